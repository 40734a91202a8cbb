// Messages that wait for their instance: released when it connects, and swept every minute in case an event was missed.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { defineJob, enqueue, implementJob } from '../../core/jobs/jobs.ts'
import { type Dispatchable, dispatchQueues, dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'

/** Messages per transaction. Bounds the time for which connecting or deleting an instance holds its locks. */
const releasedAtOnce = 2_000

const releaseJob = defineJob({
  name: 'message.release',
  schema: z.object({ instanceId: z.string() }),
  options: { notify: true, retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Adds dispatch jobs for messages that wait for this instance, in the transaction that connects or deletes it. Takes the earliest due
 * messages first, up to {@link releasedAtOnce}. A job continues with the rest.
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
  // Checks `first`, not `rows`: some of the messages may have been cancelled since the first query, and more may still wait.
  if (first.length === releasedAtOnce) await enqueue(app, tx, releaseJob, [{ data: { instanceId } }])
}

/** Continues with the next messages, unless the instance has disconnected again. */
export const releaseImplementation = implementJob(releaseJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  for (const { instanceId } of jobs) {
    await sqlTransaction(app.pool, async (tx) => {
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
 * Runs every minute for messages that lost their job, for example after a restore from a backup. Fails messages older than their time to
 * live, and adds jobs for messages that are two minutes overdue.
 */
export const sweepImplementation = implementJob(sweepJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  await sqlTransaction(app.pool, async (tx) => {
    // Skips locked rows: another worker may be sending these messages just in time.
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
    // Without table statistics, as after a restore, the planner would choose a nested loop and scan all jobs once per message.
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
