// Dead letter queue: jobs with unreadable data, and jobs that failed all retries, are logged and kept for inspection.
import type { App } from '../app.ts'
import { bossDatabase } from '../database/boss-database.ts'
import { sqlTransaction } from '../database/transaction.ts'
import type { JobImplementation } from './jobs.ts'
import { deadDays, deadQueue, takeDead } from './queues.sql.ts'

/** Creates the queue, which must exist before the queues that use it as dead letter queue. */
export async function makeDeadQueue({ boss }: Pick<App, 'boss'>): Promise<void> {
  await boss.createQueue(deadQueue)
  await boss.updateQueue(deadQueue, { retryLimit: 20, retryBackoff: true, deleteAfterSeconds: deadDays * 86_400 })
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
    // During a rolling upgrade it may be of a queue that only newer processes know, and one of them must give it up.
    if (!job && dead.retryCount < dead.retryLimit) throw new Error(`this process knows no queue ${queue}`)
    const data = job?.definition.schema.safeParse(dead.data ?? {})
    if (data?.success) await job?.giveUp?.(app, data.data)
    app.log.error({ queue, job: sourceId, tries: (sourceRetryCount ?? 0) + 1, why: sourceOutput }, 'a job failed permanently')
    // Fetches again at once. Otherwise each further dead job waits for the next alarm.
    app.boss.notifyWorker(id)
  })
  return id
}

/**
 * Puts a dead job back into its queue as it was added, in one transaction. A job that waits under its key takes its place. Returns undefined
 * if there is no such job.
 */
export async function retryDead(
  { pool, boss }: Pick<App, 'pool' | 'boss'>,
  id: string,
): Promise<{ id: string; queue: string } | undefined> {
  return await sqlTransaction(pool, async (tx) => {
    const dead = await takeDead(tx, id)
    if (!dead) return undefined
    const { queue, data, priority, key, group } = dead
    const job = { data: data ?? {}, priority, ...(key && { singletonKey: key }), ...(group && { group: { id: group } }) }
    await boss.insert(queue, [job], { db: bossDatabase(tx) })
    return { id, queue }
  })
}
