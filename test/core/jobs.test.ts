// The job queue costs little: a burst after a quiet spell reads no more than its jobs, finished jobs go, and delayed ones need no polling.
import type pg from 'pg'
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { App } from '../../src/core/app.ts'
import { bossDatabase } from '../../src/core/database/boss-database.ts'
import type { Sql } from '../../src/core/database/database.ts'
import { connectDedicated } from '../../src/core/database/dedicated.ts'
import { sqlTransaction } from '../../src/core/database/transaction.ts'
import { indexJobs } from '../../src/core/jobs/due.sql.ts'
import { defineJob, enqueue, enqueueUnder, implementJob } from '../../src/core/jobs/jobs.ts'
import { dueJobs } from '../../src/core/jobs/queues.sql.ts'
import { makeQueues, workOn } from '../../src/core/jobs/work.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { rowsRead } from '../kit/rows-read.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

const options = { notify: true, retryDelay: 0, heartbeatSeconds: 10, deleteAfterSeconds: 60 }
const schema = z.object({ n: z.number() })

async function add(app: App, name: string, count: number): Promise<void> {
  const requests = Array.from({ length: count }, (_, n) => ({ data: { n } }))
  await enqueue(app, app.pool, defineJob({ name, schema, options }), requests)
}

/** One of the sessions in which the queue runs its statements, with their settings. */
async function sessionOf(app: App): Promise<pg.PoolClient> {
  return await (app.boss.getDb() as unknown as { pool: pg.Pool }).pool.connect()
}

/** Scans of the whole table of jobs, and rows of it that were read in any way, in the transaction of this session. */
async function figures(session: Sql): Promise<{ scans: number; rows: number }> {
  const { rows } = await session.query<{ scans: number; rows: number }>(
    `select seq_scan::int as scans, (seq_tup_read + idx_tup_fetch)::int as rows from pg_stat_xact_user_tables
     where schemaname = 'pgboss' and relname = 'job_common'`,
  )
  return rows[0] as { scans: number; rows: number }
}

it('compiles no statement of the queue, of requests, of counters or of a dedicated connection', async () => {
  const app = await openApp(databaseUrl)
  const session = await sessionOf(app)
  await using dedicated = await connectDedicated(app, 'test')
  const sessions: Sql[] = [session, app.pool, app.quickPool, dedicated.client]
  const settings = await Promise.all(sessions.map((sql) => sql.query('show jit')))
  session.release()
  expect(settings.map(({ rows }) => rows)).toEqual(sessions.map(() => [{ jit: 'off' }]))
})

it('fetches a burst by indexes, although the statistics are from a quiet moment, and deletes finished jobs after minutes', async () => {
  const app = await openApp(databaseUrl)
  await app.boss.createQueue('burst', options)
  await sql(databaseUrl).query('alter table pgboss.job_common set (autovacuum_enabled = false)')
  // With these statistics the planner, left to itself, joins a fetch with the whole queue.
  await add(app, 'burst', 50)
  await sql(databaseUrl).query('analyze pgboss.job_common')
  await add(app, 'burst', 5_000)
  // In one transaction of one session of the queue, whose own figures are exact at once. Other sessions report theirs after seconds.
  const session = await sessionOf(app)
  const work = async () => {
    await session.query('begin')
    const before = await figures(session)
    const db = bossDatabase(session)
    const jobs = await app.boss.fetch('burst', { batchSize: 100, db })
    await app.boss.complete('burst', jobs, null, { db })
    const after = await figures(session)
    await session.query('commit')
    return { jobs: jobs.length, scans: after.scans - before.scans, rows: after.rows - before.rows }
  }
  const outcome = await work().finally(() => session.release())
  expect(outcome).toEqual({ jobs: 100, scans: 0, rows: expect.any(Number) })
  // Each job is read when it is fetched and when it is completed, and few other rows are.
  expect(outcome.rows).toBeGreaterThanOrEqual(200)
  expect(outcome.rows).toBeLessThan(1_000)
  await sql(databaseUrl).query(
    `update pgboss.job set completed_on = now() - interval '2 minutes' where name = 'burst' and state = 'completed'`,
  )
  await app.boss.supervise()
  const { rows } = await sql(databaseUrl).query(`select from pgboss.job where name = 'burst' and state = 'completed'`)
  expect(rows).toHaveLength(0)
})

it('finds the job that waits under a key without reading the 5,000 that wait under others', async () => {
  const app = await openApp(await cloneDatabase())
  const job = defineJob({ name: 'keyed', schema, options: { ...options, policy: 'short' } })
  await makeQueues(app, [implementJob(job, { batchSize: 1, workers: 1 }, async (_, jobs) => jobs.map(() => undefined))])
  const startAfter = new Date(Date.now() + 3_600_000)
  const requests = Array.from({ length: 5_000 }, (_, n) => ({ data: { n }, key: `key ${n}`, startAfter }))
  await enqueue(app, app.pool, job, requests)
  await app.pool.query('vacuum analyze pgboss.job_common')
  await sqlTransaction(app.pool, async (tx) => {
    const before = (await figures(tx)).rows
    await enqueueUnder(app, tx, job, 'key 3000', { data: { n: 1 } })
    expect((await figures(tx)).rows - before).toBeLessThan(50)
  })
  const { rows } = await app.pool.query(`select data from pgboss.job where name = 'keyed' and start_after <= now()`)
  expect(rows).toEqual([{ data: { n: 1 } }])
})

it('counts the due jobs of each queue for the metrics without reading 5,000 that are due later', async () => {
  const app = await openApp(await cloneDatabase())
  const job = defineJob({ name: 'counted', schema, options })
  await app.boss.createQueue('counted', options)
  const startAfter = new Date(Date.now() + 3_600_000)
  await enqueue(
    app,
    app.pool,
    job,
    Array.from({ length: 5_000 }, (_, n) => ({ data: { n }, startAfter })),
  )
  await add(app, 'counted', 3)
  await app.pool.query('vacuum analyze pgboss.job_common')
  expect(await dueJobs(app.pool)).toContainEqual({ queue: 'counted', n: 3, lag: expect.any(Number) })
  const texts: string[] = []
  await dueJobs({ query: async (text: string) => texts.push(text) && { rows: [] } } as unknown as Sql)
  expect(
    await rowsRead(
      app.pool,
      texts.map((text) => ({ text })),
    ),
  ).toBeLessThan(500)
})

it('a process that starts waits for no transaction that adds jobs, and keeps none from adding them', async () => {
  const app = await openApp(await cloneDatabase())
  const busy = await app.pool.connect()
  await busy.query('begin')
  await busy.query('lock table pgboss.job_common in row exclusive mode')
  const starting = await app.pool.connect()
  await starting.query(`set lock_timeout = '100ms'`)
  await indexJobs(starting)
  // A start creates an index that is missing.
  await busy.query('rollback')
  await busy.query('drop index pgboss.gateway_job_active_idx')
  await indexJobs(starting)
  const { rows } = await busy.query(`select to_regclass('pgboss.gateway_job_active_idx') is not null as made`)
  expect(rows).toEqual([{ made: true }])
  for (const client of [busy, starting]) client.release(true)
})

it('settles each job of a batch by its own outcome', async () => {
  const app = await openApp(databaseUrl, { ROLES: 'worker' })
  const tries = new Map<number, number>()
  const job = implementJob(defineJob({ name: 'mixed', schema, options }), { batchSize: 10, workers: 1 }, async (_, jobs) =>
    jobs.map(({ n }) => {
      const made = (tries.get(n) ?? 0) + 1
      tries.set(n, made)
      return n % 3 === 0 && made < 2 ? new Error(`fault ${n}`) : undefined
    }),
  )
  await makeQueues(app, [job])
  const rows = Array.from({ length: 9 }, (_, n) => ({ data: { n }, retryLimit: 5, retryDelay: 0 }))
  await app.boss.insert('mixed', [...rows, { data: { n: 'no number' } }])
  const working = await workOn(app, [job])
  atEnd('test', async () => await working[Symbol.asyncDispose]())
  const states = async () => {
    const { rows } = await sql(databaseUrl).query<{ state: string; n: number }>(
      `select state, count(*)::int as n from pgboss.job where name = 'mixed' group by 1 order by 1`,
    )
    return Object.fromEntries(rows.map(({ state, n }) => [state, n]))
  }
  const done = await until(async () => {
    const found = await states()
    return found.completed === 9 ? found : undefined
  })
  expect(done).toEqual({ completed: 9, failed: 1 })
  expect([...tries].sort(([a], [b]) => a - b)).toEqual(Array.from({ length: 9 }, (_, n) => [n, n % 3 === 0 ? 2 : 1]))
  await until(async () => {
    const dead = await sql(databaseUrl).query(`select source_output from pgboss.job where source_name = 'mixed'`)
    return dead.rowCount === 1 && dead.rows[0].source_output.error === 'unreadable'
  })
})

it('runs a queue of single jobs, a delayed job, one whose worker died and one that nothing announced, without polling their queues', async () => {
  const app = await openApp(databaseUrl, { ROLES: 'worker' })
  const done: number[] = []
  const job = implementJob(defineJob({ name: 'seldom', schema, options }), { batchSize: 1, workers: 2 }, async (_, jobs) => {
    done.push(...jobs.map(({ n }) => n))
    return jobs.map(() => undefined)
  })
  await makeQueues(app, [job])
  const working = await workOn(app, [job])
  atEnd('test', async () => await working[Symbol.asyncDispose]())
  await add(app, 'seldom', 20)
  await until(() => done.length === 20, { timeoutMs: 10_000 })
  await enqueue(app, app.pool, job.definition, [{ data: { n: 100 }, startAfter: new Date(Date.now() + 1_000) }])
  await until(() => done.includes(100), { timeoutMs: 10_000 })
  await sql(databaseUrl).query(
    `insert into pgboss.job (name, data, state, started_on, heartbeat_on, heartbeat_seconds, retry_limit)
     values ('seldom', '{"n": 200}', 'active', now() - interval '1 minute', now() - interval '1 minute', 10, 5)`,
  )
  await until(() => done.includes(200), { timeoutMs: 10_000 })
  // As if its notification was lost.
  await sql(databaseUrl).query(`insert into pgboss.job (name, data) values ('seldom', '{"n": 300}')`)
  await until(() => done.includes(300), { timeoutMs: 30_000 })
})

it('jobs that wait for somebody else hold up no others, and each of them runs once', async () => {
  const app = await openApp(databaseUrl, { ROLES: 'worker' })
  const begun: number[] = []
  const held: (() => void)[] = []
  const shape = { batchSize: 1, workers: 2, mostWorkers: 8, perGroup: 2 }
  const job = implementJob(defineJob({ name: 'waiting', schema, options }), shape, async (_, jobs) => {
    begun.push(...jobs.map(({ n }) => n))
    if (jobs.some(({ n }) => n < 100)) await new Promise<void>((resolve) => held.push(resolve))
    return jobs.map(() => undefined)
  })
  await makeQueues(app, [job])
  const working = await workOn(app, [job])
  atEnd('test', async () => await working[Symbol.asyncDispose]())
  const add = (n: number, group: string) => enqueue(app, app.pool, job.definition, [{ data: { n }, group }])
  // Three groups with three jobs each, of which two may run at once.
  for (let n = 0; n < 9; n++) await add(n, `group ${n % 3}`)
  await until(() => held.length === 6)
  // The two workers that are left run one job after the other.
  for (let n = 100; n < 110; n++) await add(n, 'other')
  await until(() => begun.filter((n) => n >= 100).length === 10)
  expect(held).toHaveLength(6)
  for (const release of held) release()
  await until(() => held.length === 9)
  for (const release of held) release()
  await until(async () => {
    const { rows } = await sql(databaseUrl).query(
      `select count(*)::int as n from pgboss.job where name = 'waiting' and state = 'completed'`,
    )
    return rows[0].n === 19
  })
  expect(begun.toSorted((a, b) => a - b)).toEqual([...Array(9).keys(), ...Array.from({ length: 10 }, (_, i) => 100 + i)])
})
