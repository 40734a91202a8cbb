// Applies early receipts again, until their message is known or they have been kept for two minutes.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { deleteEarly, lockEarly, postponeEarly } from './early.sql.ts'
import { earlyJob, enqueueTrials } from './early-job.ts'
import { applyIn } from './receipts.ts'

/** Receipts per transaction. */
const batchSize = 500

export const earlyImplementation: JobImplementation = implementJob(earlyJob, { batchSize: 20, workers: 1 }, async (app, jobs) => {
  for (const instanceId of new Set(jobs.map((job) => job.instanceId))) {
    for (let tried = batchSize; tried === batchSize && !app.stopping; ) tried = await tryAgain(app, instanceId)
  }
  return jobs.map(() => (app.stopping ? new Error('handed back') : undefined))
})

async function tryAgain(app: App, instanceId: string): Promise<number> {
  const tried = await sqlTransaction(app.pool, async (tx) => {
    const receipts = await lockEarly(tx, instanceId, batchSize)
    if (receipts.length === 0) return 0
    const results = await applyIn(app, tx, receipts)
    const known = receipts.filter((_, i) => results[i] !== 'unknown')
    const unknown = receipts.filter((_, i) => results[i] === 'unknown')
    if (known.length > 0) await deleteEarly(tx, known)
    if (unknown.length > 0) await enqueueTrials(app, tx, await postponeEarly(tx, unknown))
    return receipts.length
  })
  app.signals.emit('outbox')
  return tried
}
