// Messages that wait for their instance: released when it connects, and swept every minute in case an event was missed.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { defineJob, enqueue, implementJob } from '../../core/jobs/jobs.ts'
import { lockConnectedOrDeleted } from '../../instances/sending.sql.ts'
import { dispatchRequest, enqueueDispatch } from './dispatch-job.ts'
import { failMessages } from './fail.ts'
import { planCheck } from './hold-job.ts'
import { deleteEnded, readKeys } from './holds.sql.ts'
import { endWaiting, lockExpired, readWaiting, readWithoutJob } from './waiting.sql.ts'

/** Messages per transaction. Bounds the time for which connecting or deleting an instance holds its locks. */
const releasedAtOnce = 2_000
/** Time after which messages that another transaction held are looked at again. */
const heldForMs = 1_000

const releaseJob = defineJob({
  name: 'message.release',
  schema: z.object({ instanceId: z.string() }),
  options: { retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Adds dispatch jobs for messages that wait for this instance, in the transaction that connects or deletes it. Takes the earliest due
 * messages first, up to {@link releasedAtOnce}. A job continues with the rest.
 */
export async function releaseWaiting(app: App, tx: Sql, instanceId: string): Promise<void> {
  const first = await readWaiting(tx, instanceId, releasedAtOnce)
  if (first.length === 0) return
  const released = await endWaiting(tx, first)
  released.sort((a, b) => (a.id < b.id ? -1 : 1))
  await enqueueDispatch(
    app,
    tx,
    released.map((row) => dispatchRequest(row)),
  )
  const next = { data: { instanceId } }
  if (first.length === releasedAtOnce) await enqueue(app, tx, releaseJob, [next])
  // Another transaction held the others. Most of them are cancelled or claimed by then.
  else if (released.length < first.length) {
    await enqueue(app, tx, releaseJob, [{ ...next, startAfter: new Date(Date.now() + heldForMs) }])
  }
}

/** Continues with the next messages, unless the instance has disconnected again. */
export const releaseImplementation = implementJob(releaseJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  for (const { instanceId } of jobs) {
    await sqlTransaction(app.pool, async (tx) => {
      if (await lockConnectedOrDeleted(tx, instanceId)) await releaseWaiting(app, tx, instanceId)
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
 * live, and adds jobs for messages that are two minutes overdue and for keys under which messages wait.
 */
export const sweepImplementation = implementJob(sweepJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
  // Each step commits by itself: the first one holds usage rows, which every acceptance of their owners waits for.
  await sqlTransaction(app.pool, async (tx) => {
    const expired = await lockExpired(tx, app.config.messageTtlMs)
    await failMessages(
      tx,
      expired.map((id) => ({ id, error: 'EXPIRED' })),
    )
  })
  app.signals.emit('outbox')
  await sqlTransaction(app.pool, async (tx) => {
    await deleteEnded(tx)
    for (const key of await readKeys(tx)) await planCheck(app, tx, key)
  })
  await sqlTransaction(app.pool, async (tx) => {
    const lost = await readWithoutJob(tx)
    if (lost.length > 0) app.log.warn({ messages: lost.length }, 'messages without a job got one')
    await enqueueDispatch(
      app,
      tx,
      lost.map((row) => dispatchRequest(row)),
    )
  })
  return jobs.map(() => undefined)
})
