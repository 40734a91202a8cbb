// The jobs that dispatch messages: of due messages, and of messages that wait under a key.

import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { implementJob, type JobImplementation, type WorkerShape } from '../../core/jobs/jobs.ts'
import { definePart } from '../../core/part.ts'
import { claimMessages } from './claim.ts'
import { campaignDispatchJob, dispatchJob } from './dispatch-job.ts'
import { holdJob, planCheck } from './hold-job.ts'
import { readKey, readOverdue } from './holds.sql.ts'
import { sendDue } from './send.ts'

/** Last time this process had a message to send that belongs to no campaign, by `performance.now()`. */
export const lastInstant = definePart(() => ({ at: Number.NEGATIVE_INFINITY }))

/** Expired messages per transaction. */
const expiredAtOnce = 1_000

export const dispatchImplementations: readonly JobImplementation[] = [
  dispatch(dispatchJob, { batchSize: 100, workers: 3 }),
  // Small batches and few workers, because messages of other callers wait for the campaign work in progress.
  dispatch(campaignDispatchJob, { batchSize: 50, workers: 2 }),
  implementJob(holdJob, { batchSize: 50, workers: 1 }, async (app, jobs) => {
    return await Promise.all(jobs.map(({ key }) => checkKey(app, key).catch((error: Error) => error)))
  }),
]

function dispatch(definition: typeof dispatchJob, shape: WorkerShape): JobImplementation {
  return implementJob(definition, shape, async (app, jobs) => {
    if (definition === dispatchJob) lastInstant(app).at = performance.now()
    const failed = await sendDue(
      app,
      jobs.map(({ id }) => id),
    )
    await app.failpoint('send.after_commit_before_ack')
    return jobs.map(({ id }) => failed.get(id))
  })
}

/** Expires messages that waited too long under a key. Releases the others, unless their hold still lasts, and plans the next check. */
async function checkKey(app: App, key: string): Promise<undefined> {
  const overdue = await readOverdue(app.pool, key, app.config.messageTtlMs, expiredAtOnce)
  if (overdue.length > 0) await claimMessages(app, overdue, true)
  await sqlTransaction(app.pool, (tx) => planCheck(app, tx, key))
  const { until, oldest } = await readKey(app.pool, key)
  if (oldest && !until) app.signals.emit('held', key, 0)
}
