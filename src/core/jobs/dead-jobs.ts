// Jobs that nobody understands, or that were tried as often as they may be: set aside, told of, kept for people to look at.
import type { App } from '../app.ts'
import type { Sql } from '../database/database.ts'
import type { JobImplementation } from './jobs.ts'

/** The queue that they end in. */
export const deadQueue = 'job.dead'

const keptDays = 14

/** Makes the queue, which has to be there before the queues whose jobs may end in it. */
export async function makeDeadQueue({ boss }: Pick<App, 'boss'>): Promise<void> {
  await boss.createQueue(deadQueue)
  await boss.updateQueue(deadQueue, { retryLimit: 20, retryBackoff: true, deleteAfterSeconds: keptDays * 86_400 })
}

/** Tells of each job that arrives, and lets its own domain say where people look that it will not be done. */
export async function workOnDead(app: App, jobs: readonly JobImplementation[]): Promise<void> {
  const byName = new Map(jobs.map((job) => [job.definition.name, job]))
  const options = { includeMetadata: true, pollingIntervalSeconds: 1 } as const
  await app.boss.work(deadQueue, options, async ([dead]) => {
    if (!dead?.sourceName) return
    const { sourceName: queue, sourceId, sourceRetryCount, sourceOutput } = dead
    const job = byName.get(queue)
    const data = job?.definition.schema.safeParse(dead.data ?? {})
    if (data?.success) await job?.giveUp?.(app, data.data)
    app.log.error({ queue, job: sourceId, tries: (sourceRetryCount ?? 0) + 1, why: sourceOutput }, 'a job was set aside for good')
  })
}

/** How many jobs of each queue were set aside in the last {@link keptDays} days. */
export async function countDead(sql: Sql): Promise<{ queue: string; n: number }[]> {
  const { rows } = await sql.query<{ queue: string; n: number }>(
    'select source_name as queue, count(*)::int as n from pgboss.job where name = $1 and source_name is not null group by 1 order by 1',
    [deadQueue],
  )
  return rows
}
