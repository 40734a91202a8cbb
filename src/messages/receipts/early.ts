// Applies early receipts again, until their message is known or they have been kept for two minutes.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { enqueue, implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { deleteEarly, lockEarly, postponeEarly } from './early.sql.ts'
import { earlyJob, enqueueTrials } from './early-job.ts'
import { applyIn } from './receipts.ts'

/** Receipts per transaction. */
const batchSize = 500

export const earlyImplementation: JobImplementation = implementJob(earlyJob, { batchSize: 20, workers: 1 }, async (app, jobs) => {
  for (const instanceId of new Set(jobs.map((job) => job.instanceId))) await tryAgain(app, instanceId)
  return jobs.map(() => undefined)
})

/** Tries one batch. A job continues with the rest, so that an instance with very many does not delay the others. */
async function tryAgain(app: App, instanceId: string): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const receipts = await lockEarly(tx, instanceId, batchSize)
    if (receipts.length === 0) return
    const results = await applyIn(app, tx, receipts)
    const known = receipts.filter((_, i) => results[i] !== 'unknown')
    const unknown = receipts.filter((_, i) => results[i] === 'unknown')
    if (known.length > 0) await deleteEarly(tx, known)
    if (unknown.length > 0) await enqueueTrials(app, tx, await postponeEarly(tx, unknown))
    if (receipts.length === batchSize) await enqueue(app, tx, earlyJob, [{ data: { instanceId } }])
  })
  app.signals.emit('outbox')
}
