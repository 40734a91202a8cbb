// The job queue costs little: a burst after a quiet spell reads no more than its jobs, finished jobs go, and delayed ones need no polling.
import { beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import type { App } from '../../src/core/app.ts'
import { defineJob, enqueue, implementJob } from '../../src/core/jobs/jobs.ts'
import { makeQueues, workOn } from '../../src/core/jobs/work.ts'
import { atEnd, cloneDatabase, sql, until } from '../kit/kit.ts'
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

it('fetches a burst by indexes, although the statistics are from a quiet moment, and deletes finished jobs after minutes', async () => {
  const app = await openApp(databaseUrl)
  await app.boss.createQueue('burst', options)
  await sql(databaseUrl).query('alter table pgboss.job_common set (autovacuum_enabled = false)')
  await sql(databaseUrl).query('analyze pgboss.job_common')
  await add(app, 'burst', 5_000)
  const rowsRead = async () => {
    const { rows } = await sql(databaseUrl).query<{ n: number }>(
      `select (seq_tup_read + idx_tup_fetch)::int as n from pg_stat_user_tables where schemaname = 'pgboss' and relname = 'job_common'`,
    )
    return rows[0]?.n ?? 0
  }
  const scanned = async () => {
    const { rows } = await sql(databaseUrl).query<{ n: number }>(
      `select seq_scan::int as n from pg_stat_user_tables where schemaname = 'pgboss' and relname = 'job_common'`,
    )
    return rows[0]?.n
  }
  const before = await scanned()
  const jobs = await app.boss.fetch('burst', { batchSize: 100 })
  expect(jobs).toHaveLength(100)
  await app.boss.complete(
    'burst',
    jobs.map(({ id }) => id),
  )
  // A session reports its figures after a moment.
  await until(async () => (await rowsRead()) >= 200)
  expect(await scanned()).toBe(before)
  await sql(databaseUrl).query(
    `update pgboss.job set completed_on = now() - interval '2 minutes' where name = 'burst' and state = 'completed'`,
  )
  await app.boss.supervise()
  const { rows } = await sql(databaseUrl).query(`select from pgboss.job where name = 'burst' and state = 'completed'`)
  expect(rows).toHaveLength(0)
})

it('runs a queue of single jobs, a delayed job, and a job whose worker died without polling their queues', async () => {
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
})
