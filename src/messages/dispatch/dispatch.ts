// The jobs that dispatch messages: of due messages, and of held ones.
import type { App } from '../../core/app.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { implementJob, type JobImplementation, type WorkerShape } from '../../core/jobs/jobs.ts'
import { definePart } from '../../core/part.ts'
import { isUnavailable } from '../../core/public-failure.ts'
import { claimHeld } from './claim.ts'
import { campaignDispatchJob, dispatchJob, idsOf } from './dispatch-job.ts'
import { holdJob, planCheck } from './hold-job.ts'
import { readKey, readOverdue } from './holds.sql.ts'
import { sendDue } from './send.ts'

/** Last time this process had a message to send that belongs to no campaign, by `performance.now()`. */
export const lastInstant = definePart(() => ({ at: Number.NEGATIVE_INFINITY }))

/** Expired messages per transaction. */
const expiredAtOnce = 1_000

export const dispatchImplementations: readonly JobImplementation[] = [
  // Jobs have up to ten messages.
  dispatch(dispatchJob, { batchSize: 20, workers: 3 }),
  // Small batches and few workers, because messages of other callers wait for the campaign work in progress.
  dispatch(campaignDispatchJob, { batchSize: 5, workers: 2 }),
  implementJob(holdJob, { batchSize: 50, workers: 1 }, async (app, jobs) => {
    return await Promise.all(jobs.map(({ key }) => checkKey(app, key).catch((error: Error) => error)))
  }),
]

function dispatch(definition: typeof dispatchJob, shape: WorkerShape): JobImplementation {
  return implementJob(definition, shape, async (app, jobs) => {
    if (definition === dispatchJob) lastInstant(app).at = performance.now()
    const [first, ...others] = jobs
    const failed = first && others.length === 0 ? await sendJob(app, idsOf(first)) : await sendDue(app, jobs.flatMap(idsOf))
    return jobs.map((job) => idsOf(job).flatMap((id) => failed.get(id) ?? [])[0])
  })
}

/** Sends the messages of one job. If that throws, sends them one by one, so that only the faulty message is tried again. */
async function sendJob(app: App, ids: readonly string[]): Promise<Map<string, Error>> {
  try {
    return await sendDue(app, ids)
  } catch (error) {
    if (ids.length === 1 || isUnavailable(error)) throw error
    const failed = new Map<string, Error>()
    for (const id of ids) {
      for (const [at, reason] of await sendDue(app, [id]).catch((reason: Error) => new Map([[id, reason]])))
        failed.set(at, reason)
    }
    return failed
  }
}

/** Expires messages that were held under a key for too long. Releases the others, unless their hold still lasts, and plans the next check. */
async function checkKey(app: App, key: string): Promise<undefined> {
  const overdue = await readOverdue(app.pool, key, app.config.messageTtlMs, expiredAtOnce)
  if (overdue.length > 0) await claimHeld(app, overdue)
  await sqlTransaction(app.pool, (tx) => planCheck(app, tx, key))
  const { until, oldest } = await readKey(app.pool, key)
  if (oldest && !until) app.signals.emit('held', key, 0)
}
