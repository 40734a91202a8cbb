// Messages that wait: let go when their instance connects, and looked after when something was missed.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { type Sql, transaction } from '../../core/database/database.ts'
import { defineJob, enqueue, implementJob } from '../../core/jobs/jobs.ts'
import { type Dispatchable, dispatchQueues, dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'

/** As many as a transaction lets go without keeping whoever connects or deletes an instance waiting. */
const releasedAtOnce = 2_000

const releaseJob = defineJob({
  name: 'message.release',
  schema: z.object({ instanceId: z.string() }),
  options: { notify: true, retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Brings up the jobs of what waited for this instance, in the transaction that connects or deletes it: of those that have
 * waited longest so many at once; a job goes on with the others.
 */
export async function releaseWaiting(app: App, tx: Sql, instanceId: string): Promise<void> {
  const { rows: first } = await tx.query<{ id: string }>(
    `select id from messages where "instanceId" = $1 and "waitingSince" is not null and status in ('queued', 'sending')
       and "acceptedAt" is null and direction = 'outbound' order by "dueAt", id limit $2`,
    [instanceId, releasedAtOnce],
  )
  if (first.length === 0) return
  const { rows } = await tx.query<Dispatchable>(
    `with held as (select id from messages where id = any($1) and "waitingSince" is not null order by id for update)
     update messages m set "waitingSince" = null from held where m.id = held.id returning m.id, m."scheduledAt", m."campaignId"`,
    [first.map(({ id }) => id)],
  )
  const inOrder = rows.sort((a, b) => (a.id < b.id ? -1 : 1))
  await enqueueDispatch(
    app,
    tx,
    inOrder.map((row) => dispatchRequest(row)),
  )
  // Of these some may have been cancelled meanwhile, and the others wait all the same.
  if (first.length === releasedAtOnce) await enqueue(app, tx, releaseJob, [{ data: { instanceId } }])
}

/** Goes on with the next, unless the instance has gone away again. */
export const releaseImplementation = implementJob(releaseJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  for (const { instanceId } of jobs) {
    await transaction(app.pool, async (tx) => {
      const { rowCount } = await tx.query(
        `select from instances where id = $1 and (status = 'connected' or "deletedAt" is not null) for share`,
        [instanceId],
      )
      if (rowCount) await releaseWaiting(app, tx, instanceId)
    })
  }
  return jobs.map(() => undefined)
})

export const sweepJob = defineJob({
  name: 'message.sweep',
  schema: z.object({}),
  cron: '* * * * *',
  options: { policy: 'exclusive', retryLimit: 0, deleteAfterSeconds: 60 },
})

/**
 * Every minute, for what has no job though it should, as after a restore from a backup: fails what waited longer than
 * its time to live, and brings up jobs of what should have left long ago.
 */
export const sweepImplementation = implementJob(sweepJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  await transaction(app.pool, async (tx) => {
    // What somebody holds at this moment, perhaps to send it just in time, is left to them.
    const { rows } = await tx.query<{ id: string }>(
      `select id from messages where direction = 'outbound' and status in ('queued', 'sending') and "acceptedAt" is null
         and ("leaseToken" is null or "waitingSince" is not null) and "dueAt" < now() - $1 * interval '1 millisecond' order by id limit 5000
       for update skip locked`,
      [app.config.messageTtlMs],
    )
    await failMessages(
      tx,
      rows.map((row) => ({ id: row.id, error: 'EXPIRED' })),
    )
    // Without statistics, as after a restore, all jobs would be looked through again for each message.
    await tx.query('set local enable_nestloop = off')
    const { rows: lost } = await tx.query<Dispatchable>(
      `select m.id, m."scheduledAt", m."campaignId" from messages m
       where m.direction = 'outbound' and m.status in ('queued', 'sending') and m."acceptedAt" is null and m."waitingSince" is null
         and greatest(m."dueAt", m."nextAttemptAt", m."leaseUntil") < now() - interval '2 minutes'
         and not exists (
           select 1 from pgboss.job j where j.name = any($1) and j.state < 'completed' and j.data->>'id' = m.id::text
         ) order by m.id limit 5000`,
      [dispatchQueues],
    )
    if (lost.length > 0) app.log.warn({ messages: lost.length }, 'messages without a job brought up again')
    await enqueueDispatch(
      app,
      tx,
      lost.map((row) => dispatchRequest(row)),
    )
  })
  app.signals.emit('outbox')
  return jobs.map(() => undefined)
})
