// Releases the waiting messages of an instance when it connects or is deleted.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { defineJob, delayOf, enqueue, implementJob } from '../../core/jobs/jobs.ts'
import { lockConnectedOrDeleted } from '../../instances/sending.sql.ts'
import { dispatchRequest, enqueueDispatch, largeBulk } from './dispatch-job.ts'
import { endWaiting, readWaiting } from './waiting.sql.ts'

/** Messages per transaction. Bounds the time for which connecting or deleting an instance holds its locks. */
const releasedAtOnce = 2_000
/** Time after which messages that another transaction locked are looked at again. */
const lockedForMs = 1_000

const releaseJob = defineJob({
  name: 'message.release',
  schema: z.object({ instanceId: z.string() }),
  options: { retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Adds dispatch jobs for the waiting messages of this instance, deferred and held ones, in the transaction that connects or deletes it, and
 * lets their campaigns continue. Takes the earliest due messages first, up to {@link releasedAtOnce}. A job continues with the rest.
 */
export async function releaseWaiting(app: App, tx: Sql, instanceId: string): Promise<void> {
  const first = await readWaiting(tx, instanceId, releasedAtOnce)
  if (first.length === 0) return
  const released = await endWaiting(tx, first)
  released.sort((a, b) => (a.id < b.id ? -1 : 1))
  await enqueueDispatch(
    app,
    tx,
    released.map((row) => dispatchRequest(row, undefined, released.length > largeBulk)),
  )
  await app.hooks.continueCampaigns(tx, [...new Set(released.flatMap(({ campaignId }) => campaignId ?? []))])
  const next = { data: { instanceId } }
  if (first.length === releasedAtOnce && released.length > 0) await enqueue(app, tx, releaseJob, [next])
  // Another transaction locked the others. Most of them are cancelled or claimed by then.
  else if (released.length < first.length) await enqueue(app, tx, releaseJob, [{ ...next, startAfter: delayOf(lockedForMs) }])
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
