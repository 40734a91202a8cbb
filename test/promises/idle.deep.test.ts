// An idle gateway leaves PostgreSQL alone: few transactions, and little written ahead.
import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { spentWithin } from '../kit/cost.ts'
import { ownServer, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'

const [settlingSeconds, firstSeconds, laterSeconds] = [130, 60, 180]

it('makes at most 5 transactions a second, takes at most 1 % of a core in PostgreSQL and writes at most 20 MB of WAL a day', {
  timeout: 600_000,
}, async () => {
  const server = await ownServer()
  await startGateway({ databaseUrl: server.url })
  const pool = sql(server.url)
  const { rows } = await pool.query<{ pid: number }>('select pg_backend_pid() as pid')
  const parentOf = (pid?: number) => Number(readFileSync(`/proc/${pid}/status`, 'utf8').match(/^PPid:\t(\d+)$/m)?.[1])
  const postgres = parentOf(rows[0]?.pid)
  const look = async () => {
    const { own, children } = spentWithin(postgres)
    const { rows } = await pool.query<{ transactions: number; bytes: number }>(
      `select xact_commit + xact_rollback::float8 as transactions, pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 as bytes
       from pg_stat_database where datname = current_database()`,
    )
    return { ...(rows[0] as { transactions: number; bytes: number }), processorMs: own + children }
  }
  const measure = async (seconds: number) => {
    const before = await look()
    await pause(seconds * 1_000)
    const after = await look()
    const since = (name: keyof typeof before) => after[name] - before[name]
    return { transactions: since('transactions'), bytes: since('bytes'), processorMs: since('processorMs') }
  }
  // Autovacuum would do this once after the creation of the database and its tables, amid the measurement. It comes once a minute, and has
  // something left to do in the first two.
  for (const name of ['postgres', 'template1']) {
    const fresh = sql(server.url.replace(/postgres$/, name))
    await fresh.query('vacuum (analyze)')
    await fresh.query('vacuum pg_statistic')
  }
  await pause(settlingSeconds * 1_000)
  // The first change of a page after a checkpoint is written as the whole page, so the first window counts once for each checkpoint.
  await pool.query('checkpoint')
  const [first, later] = [await measure(firstSeconds), await measure(laterSeconds)]
  const { rows: settings } = await pool.query<{ seconds: number }>(
    `select extract(epoch from current_setting('checkpoint_timeout')::interval)::float8 as seconds`,
  )
  const checkpointSeconds = settings[0]?.seconds ?? 0
  const bytes = first.bytes + (later.bytes * (checkpointSeconds - firstSeconds)) / laterSeconds
  const daily = ((bytes / checkpointSeconds) * 86_400) / 1e6
  const rate = (first.transactions + later.transactions) / (firstSeconds + laterSeconds)
  const share = (first.processorMs + later.processorMs) / 1_000 / (firstSeconds + laterSeconds)
  console.log(
    `idle: ${rate.toFixed(1)} transactions/s, ${(100 * share).toFixed(2)} % of a core, ${daily.toFixed(1)} MB of WAL a day (${first.bytes} bytes in the minute after a checkpoint, ${later.bytes} in the three after it)`,
  )
  expect(rate).toBeLessThan(5)
  expect(share).toBeLessThan(0.01)
  expect(daily).toBeLessThan(20)
})
