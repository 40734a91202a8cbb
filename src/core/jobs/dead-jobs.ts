// Dead letter queue: jobs with unreadable data, and jobs that failed all retries, are logged and kept for inspection.
import type { App } from '../app.ts'
import type { Sql } from '../database/database.ts'
import type { JobImplementation } from './jobs.ts'
import { countDeadIn } from './queues.sql.ts'

/** Name of the dead letter queue. */
export const deadQueue = 'job.dead'

const keptDays = 14

/** Creates the queue, which must exist before the queues that use it as dead letter queue. */
export async function makeDeadQueue({ boss }: Pick<App, 'boss'>): Promise<void> {
  await boss.createQueue(deadQueue)
  await boss.updateQueue(deadQueue, { retryLimit: 20, retryBackoff: true, deleteAfterSeconds: keptDays * 86_400 })
}

/**
 * Logs each dead job, and lets its domain record that the job will not be done (`giveUp`). Returns the id of the worker, which the alarm of
 * due jobs wakes: nothing announces dead jobs.
 */
export async function workOnDead(app: App, jobs: readonly JobImplementation[]): Promise<string> {
  const byName = new Map(jobs.map((job) => [job.definition.name, job]))
  const options = { includeMetadata: true, pollingIntervalSeconds: 60 } as const
  const id = await app.boss.work(deadQueue, options, async ([dead]) => {
    if (!dead?.sourceName) return
    const { sourceName: queue, sourceId, sourceRetryCount, sourceOutput } = dead
    const job = byName.get(queue)
    const data = job?.definition.schema.safeParse(dead.data ?? {})
    if (data?.success) await job?.giveUp?.(app, data.data)
    app.log.error({ queue, job: sourceId, tries: (sourceRetryCount ?? 0) + 1, why: sourceOutput }, 'a job failed for good')
    // More may wait, and without this the alarm would wake the worker for each.
    app.boss.notifyWorker(id)
  })
  return id
}

/** Returns how many jobs of each queue were dead-lettered in the last {@link keptDays} days. */
export async function countDead(sql: Sql): Promise<{ queue: string; n: number }[]> {
  return await countDeadIn(sql, deadQueue)
}
