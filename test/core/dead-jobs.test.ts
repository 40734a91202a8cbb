// Dead jobs: one that is retried is the job that was added, and one that nobody here knows waits for a process that does.
import { expect, it } from 'vitest'
import { z } from 'zod'
import { retryDead } from '../../src/core/jobs/dead-jobs.ts'
import { defineJob, enqueue, implementJob } from '../../src/core/jobs/jobs.ts'
import { makeQueues, workOn } from '../../src/core/jobs/work.ts'
import { cloneDatabase } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'

const job = defineJob({ name: 'fragile', schema: z.object({ n: z.number() }), options: { policy: 'short', retryLimit: 0 } })

it('a retried job keeps its key, group and priority, and jobs of other keys do not replace it', async () => {
  const app = await openApp(await cloneDatabase(), { ROLES: 'worker' })
  await makeQueues(app, [implementJob(job, { batchSize: 1, workers: 1 }, async () => [undefined])])
  const added = [1, 2].map((n) => ({ data: { n }, key: `key ${n}`, group: `group ${n}`, priority: n }))
  await enqueue(app, app.pool, job, added)
  for (const { id } of await app.boss.fetch(job.name, { batchSize: 2 })) await app.boss.fail(job.name, id)
  const dead = await app.pool.query<{ id: string }>(`select id from pgboss.job where name = 'job.dead' and source_name = $1`, [
    job.name,
  ])
  expect(dead.rows).toHaveLength(2)
  for (const { id } of dead.rows) expect(await retryDead(app, id)).toEqual({ id, queue: job.name })
  const { rows } = await app.pool.query(
    `select data, singleton_key as key, group_id as "group", priority from pgboss.job where name = $1 and state = 'created' order by priority`,
    [job.name],
  )
  expect(rows).toEqual(added)
})

it('a dead job of a queue that only newer processes know waits for one of them, which gives it up', async () => {
  const app = await openApp(await cloneDatabase(), { ROLES: 'worker' })
  const given: number[] = []
  const giveUp = async (_: unknown, { n }: { n: number }) => void given.push(n)
  const known = implementJob(job, { batchSize: 1, workers: 1 }, async () => [undefined], giveUp)
  await makeQueues(app, [known])
  await enqueue(app, app.pool, job, [{ data: { n: 1 } }])
  for (const { id } of await app.boss.fetch(job.name)) await app.boss.fail(job.name, id)
  const older = await workOn(app, [])
  const text = `select state from pgboss.job where name = 'job.dead' and source_name = $1 and state not in ('created', 'active')`
  const [dead] = await until(async () => {
    const { rows } = await app.pool.query<{ state: string }>(text, [job.name])
    return rows.length > 0 && rows
  })
  expect(dead?.state).toBe('retry')
  await older[Symbol.asyncDispose]()
  await app.pool.query(`update pgboss.job set start_after = now() where name = 'job.dead'`)
  await using _ = await workOn(app, [known])
  await until(() => given.length > 0)
  expect(given).toEqual([1])
})
