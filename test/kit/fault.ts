// A database that refuses one kind of statement, or lets it wait, until the test has seen what it wants to see.
import type pg from 'pg'
import { atEnd, sql, until } from './kit.ts'

type Statement = 'insert' | 'update' | 'delete'

let faults = 0

/** The database refuses that statement, as one that shuts down would. Answers how it is to be well again; it is at the test's end. */
export async function refuse(databaseUrl: string, statement: Statement, table: string): Promise<() => Promise<void>> {
  return await onEach(databaseUrl, statement, table, `raise exception 'the test refuses this' using errcode = '57P03'`)
}

/** Such a statement finds no row that it could change, as where another has just deleted it. */
export async function lose(databaseUrl: string, statement: 'update' | 'delete', table: string): Promise<() => Promise<void>> {
  return await onEach(databaseUrl, statement, table, 'return null')
}

/** Such a statement takes so much longer for each row, all of it at once: thousands of short sleeps last as long as a busy machine likes. */
export async function slow(databaseUrl: string, statement: Statement, table: string, byMs: number): Promise<() => Promise<void>> {
  const rows = statement === 'delete' ? 'old' : 'new'
  const body = `perform pg_sleep(count(*) * ${byMs / 1_000}) from touched`
  return await onEach(
    databaseUrl,
    statement,
    table,
    body,
    `after ${statement} on ${table} referencing ${rows} table as touched for each statement`,
  )
}

export interface Held {
  /** Resolves when a statement waits. */
  waits: () => Promise<void>
  /** Lets it, and all that come, go on. */
  release: () => Promise<void>
}

/** Every such statement waits until it is released. */
export async function hold(databaseUrl: string, statement: Statement, table: string): Promise<Held> {
  const key = 7_000 + faults
  const pool = sql(databaseUrl)
  const client: pg.PoolClient = await pool.connect()
  await client.query('select pg_advisory_lock($1)', [key])
  const undo = await onEach(databaseUrl, statement, table, `perform pg_advisory_xact_lock_shared(${key})`)
  let held = true
  const release = async () => {
    if (!held) return
    held = false
    await client.query('select pg_advisory_unlock($1)', [key])
    client.release()
    await undo()
  }
  atEnd('test', release)
  const waits = async () => {
    await until(async () => {
      // Every database of the server is in there, and another test file may hold the same key in its own.
      const query = `select from pg_locks l join pg_database d on d.oid = l.database and d.datname = current_database()
        where l.locktype = 'advisory' and l.objid = $1 and not l.granted`
      return (await pool.query(query, [key])).rowCount
    })
  }
  return { waits, release }
}

/** Runs `body` (PL/pgSQL) before each such statement changes a row, or at another time, until the answer is called. */
async function onEach(
  databaseUrl: string,
  statement: Statement,
  table: string,
  body: string,
  time = `before ${statement} on ${table} for each row`,
): Promise<() => Promise<void>> {
  const name = `fault_${++faults}`
  const pool = sql(databaseUrl)
  await pool.query(
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return coalesce(new, old); end $$`,
  )
  await pool.query(`create trigger ${name} ${time} execute function ${name}()`)
  const undo = async () => {
    await pool.query(`drop function if exists ${name} cascade`)
  }
  atEnd('test', undo)
  return undo
}
