// Holds a row lock until concurrent requests wait for it, to expose decisions that were made before the lock was acquired.
import { sql } from './database.ts'
import { until } from './until.ts'

/**
 * Runs a statement in a transaction, starts the requests one after the other until all of them wait for its locks, and commits.
 * No other connection may need those locks.
 * @param then another statement of that transaction, run while they wait
 */
export async function whileHeld<T>(
  databaseUrl: string,
  [text, ...values]: [text: string, ...values: unknown[]],
  ask: (() => Promise<T>)[],
  then?: [text: string, ...values: unknown[]],
): Promise<T[]> {
  const holder = await sql(databaseUrl).connect()
  const asked: Promise<T>[] = []
  try {
    await holder.query('begin')
    await holder.query(text, values)
    const backend = (await holder.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]?.pid as number
    for (const one of ask) {
      asked.push(one())
      await waiting(databaseUrl, backend, asked.length)
    }
    if (then) await holder.query(then[0], then.slice(1))
    await holder.query('commit')
  } catch (error) {
    await holder.query('rollback')
    throw error
  } finally {
    holder.release()
  }
  return await Promise.all(asked)
}

/** Waits until that many connections wait for the backend, or for each other behind it. */
async function waiting(databaseUrl: string, backend: number, count: number): Promise<void> {
  await until(async () => {
    const { rows } = await sql(databaseUrl).query<{ n: number }>(
      `with recursive behind as (
         select $1::int as pid
         union
         select a.pid from behind b join pg_stat_activity a on b.pid = any(pg_blocking_pids(a.pid))
       )
       select count(*)::int - 1 as n from behind`,
      [backend],
    )
    return rows[0]?.n === count
  })
}
