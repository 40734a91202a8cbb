// Background jobs: the module that enqueues a job defines it, and the module that runs it implements it.
import type { PgBoss, QueueOptions } from 'pg-boss'
import { z } from 'zod'
import type { App } from '../app.ts'
import { bossDatabase } from '../database/boss-database.ts'
import type { Sql } from '../database/database.ts'

export interface JobDefinition<Data extends object> {
  /** The queue's name, `<domain>.<verb>`. */
  name: string
  /** Schema of the job's data: ids, never payloads. Validated when it is enqueued and when it is run. */
  schema: z.ZodType<Data>
  options?: QueueOptions & { policy?: string }
  /** Cron expression in UTC. The job's data is then `{}`. */
  cron?: string
}

/** The earliest time at which a job runs, or a delay: see {@link delayOf}. */
export type Start = Date | `${number} ms`

/** A delay in milliseconds by the clock of the database, which may differ from that of this process. */
export const delayOf = (ms: number): Start => `${ms} ms`

export interface JobRequest<Data extends object> {
  data: Data
  startAfter?: Start
  /** Higher runs first. */
  priority?: number
  /** A UUID for deduplication: of several jobs with one id, only the first is added. */
  id?: string
  /** A queue of policy `short` keeps one waiting job for each key, and ignores further ones. */
  key?: string
  /** Owner of the job, for queues that limit the jobs that run at once per group (`perGroup`). */
  group?: string
}

export interface JobImplementation {
  definition: JobDefinition<object>
  work: WorkerShape
  run: (app: App, jobs: readonly object[]) => Promise<readonly (Error | undefined)[]>
  /** Records in the domain that a job failed all retries. It is not called for a job whose data is unreadable. */
  giveUp?: ((app: App, job: object) => Promise<void>) | undefined
}

export interface WorkerShape {
  /** Jobs fetched at once; they run concurrently. */
  batchSize: number
  /** Fetch loops in this process. */
  workers: number
  /**
   * Most fetch loops while some are late (crew.ts). For jobs that wait for a network and use little processor time, so that a job that hangs
   * delays no other.
   */
  mostWorkers?: number
  /** Most jobs of one group that run at once, over all nodes. */
  perGroup?: number
}

/** Options of a job that needs a network or a store, which may be down for a day. Times in seconds. */
export const outlastsOutage = {
  retryLimit: 100,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 1_800,
  heartbeatSeconds: 10,
  expireInSeconds: 600,
  deleteAfterSeconds: 3_600,
}

export function defineJob<Data extends object>(definition: JobDefinition<Data>): JobDefinition<Data> {
  return definition
}

/**
 * Defines how a worker runs a batch of jobs. `run` returns for each job, in order, `undefined` (done) or an Error (retry). If it
 * throws, each job is run again by itself, unless the database is unreachable.
 */
export function implementJob<Data extends object>(
  definition: JobDefinition<Data>,
  work: WorkerShape,
  run: (app: App, jobs: readonly Data[]) => Promise<readonly (Error | undefined)[]>,
  giveUp?: (app: App, job: Data) => Promise<void>,
): JobImplementation
export function implementJob(
  definition: JobImplementation['definition'],
  work: WorkerShape,
  run: JobImplementation['run'],
  giveUp?: JobImplementation['giveUp'],
): JobImplementation {
  return { definition, work, run, giveUp }
}

/** Defines a job that runs by the clock. */
export function scheduleJob(
  { options = { retryLimit: 2, expireInSeconds: 600 }, ...definition }: Omit<JobDefinition<object>, 'schema'> & { cron: string },
  run: (app: App) => Promise<unknown>,
): JobImplementation {
  const scheduled = defineJob({ ...definition, options, schema: z.object({}) })
  return implementJob(scheduled, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    await run(app)
    return jobs.map(() => undefined)
  })
}

/** Adds jobs in the transaction `tx`; workers are woken when it commits. */
export async function enqueue<Data extends object>(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: JobDefinition<Data>,
  requests: readonly JobRequest<Data>[],
): Promise<void> {
  if (requests.length === 0) return
  const rows = requests.map(({ id, data, startAfter, priority, group, key }) => ({
    id,
    data: definition.schema.parse(data),
    startAfter,
    priority,
    ...(group && { group: { id: group } }),
    ...(key && { singletonKey: key }),
  }))
  await app.boss.insert(definition.name, rows as Parameters<PgBoss['insert']>[1], { db: bossDatabase(tx) })
}

/**
 * Sets the start of the one job that waits under `key` to `startAfter`, or to the present, in the transaction `tx`. Adds the job
 * if none waits. For queues of policy `short`.
 */
export async function enqueueUnder<Data extends object>(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: JobDefinition<Data>,
  key: string,
  { data, startAfter, group }: Pick<JobRequest<Data>, 'data' | 'startAfter' | 'group'>,
): Promise<void> {
  // `0` means the present by the clock of the database; without a value, the job would keep its time.
  const at = { singletonKey: key, startAfter: startAfter ?? '0', db: bossDatabase(tx) }
  const options = { ...at, ...(group && { group: { id: group } }) }
  await app.boss.upsert(definition.name, definition.schema.parse(data), options)
}

/** Deletes jobs that have not begun, by the ids they were added under. */
export async function deleteJobs(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: Pick<JobDefinition<object>, 'name'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await app.boss.deleteJob(definition.name, [...ids], { db: bossDatabase(tx) })
}
