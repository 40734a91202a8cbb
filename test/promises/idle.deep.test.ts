// An idle gateway leaves PostgreSQL alone: few transactions, and little written ahead.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { ownServer, sql, startGateway } from '../kit/kit.ts'

const windowSeconds = 60

it('makes at most 5 transactions a second and writes at most 20 MB of WAL a day', { timeout: 400_000 }, async () => {
  const server = await ownServer()
  await startGateway({ databaseUrl: server.url })
  const pool = sql(server.url)
  const look = async () => {
    const { rows } = await pool.query<{ transactions: number; bytes: number }>(
      `select xact_commit + xact_rollback::float8 as transactions, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes
       from pg_stat_database where datname = current_database()`,
    )
    return rows[0] as { transactions: number; bytes: number }
  }
  const measure = async () => {
    const before = await look()
    await pause(windowSeconds * 1000)
    const after = await look()
    return { transactions: after.transactions - before.transactions, bytes: after.bytes - before.bytes }
  }
  // Done now, because autovacuum would do it once after the migrations, amid the measurement.
  await pool.query('vacuum (analyze)')
  await pause(windowSeconds * 500)
  // The first change of a page after a checkpoint is written as the whole page, so the first window counts once for each checkpoint.
  await pool.query('checkpoint')
  const [first, later] = [await measure(), await measure()]
  const { rows } = await pool.query<{ seconds: number }>(
    `select extract(epoch from current_setting('checkpoint_timeout')::interval)::float8 as seconds`,
  )
  const [windows, checkpoints] = [86_400 / windowSeconds, 86_400 / (rows[0]?.seconds ?? 0)]
  const daily = (checkpoints * first.bytes + (windows - checkpoints) * later.bytes) / 1e6
  const rate = (first.transactions + later.transactions) / (2 * windowSeconds)
  console.log(`idle: ${rate.toFixed(1)} transactions/s, ${daily.toFixed(1)} MB of WAL a day`)
  expect(rate).toBeLessThan(5)
  expect(daily).toBeLessThan(20)
})
