// Work that happens later: a job is defined by who asks for it and implemented by who does it.
import type { InsertOptions, PgBoss, QueueOptions } from 'pg-boss'
import type { z } from 'zod'
import type { App } from '../app.ts'
import type { Sql } from '../database/database.ts'

export interface JobDefinition<Data extends object> {
  /** The queue's name, `<domain>.<verb>`. */
  name: string
  /** What a job carries: ids, never payloads. Parsed on both ends. */
  schema: z.ZodType<Data>
  options?: QueueOptions & { policy?: string; notify?: boolean }
  /** Runs by the clock: a cron line, UTC. The job's data is then `{}`. */
  cron?: string
}

export interface JobRequest<Data extends object> {
  data: Data
  /** Not before this time. */
  startAfter?: Date
  /** Higher goes first. */
  priority?: number
  /** A UUID; of jobs under one id only the first is added. */
  id?: string
  /** Whose it is, where the queue's workers are shared out by that. */
  group?: string
}

export interface JobImplementation {
  definition: JobDefinition<object>
  work: WorkerShape
  run: (app: App, jobs: readonly object[]) => Promise<readonly (Error | undefined)[]>
  /** Says, where people look, that a job was tried as often as it may be. What nobody understands does not get here. */
  giveUp?: (app: App, job: object) => Promise<void>
}

export interface WorkerShape {
  /** Jobs fetched at once; they run side by side. */
  batchSize: number
  /** Fetch loops in this process. */
  workers: number
  /** How many jobs of one group run at once, on all nodes together. */
  perGroup?: number
}

export function defineJob<Data extends object>(definition: JobDefinition<Data>): JobDefinition<Data> {
  return definition
}

/**
 * What a worker does with a batch of jobs: settles each, in order, with `undefined` (done) or an Error (try again).
 * Where it throws, each of them is run again by itself.
 */
export function implementJob<Data extends object>(
  definition: JobDefinition<Data>,
  work: WorkerShape,
  run: (app: App, jobs: readonly Data[]) => Promise<readonly (Error | undefined)[]>,
  giveUp?: (app: App, job: Data) => Promise<void>,
): JobImplementation {
  return { definition, work, run, giveUp } as unknown as JobImplementation
}

/** pg-boss's view of a connection, so that its jobs commit or roll back with the rows they are about. */
function bossDatabase(tx: Sql): NonNullable<InsertOptions['db']> {
  return { executeSql: (text, values) => tx.query(text, values as unknown[]) }
}

/** Adds jobs in the transaction `tx`; workers are woken when it commits. */
export async function enqueue<Data extends object>(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: JobDefinition<Data>,
  requests: readonly JobRequest<Data>[],
): Promise<void> {
  if (requests.length === 0) return
  const rows = requests.map(({ id, data, startAfter, priority, group }) => ({
    id,
    data: definition.schema.parse(data),
    startAfter,
    priority,
    ...(group && { group: { id: group } }),
  }))
  await app.boss.insert(definition.name, rows as Parameters<PgBoss['insert']>[1], { db: bossDatabase(tx) })
}

/**
 * Makes the one job that waits under `key` come up at `startAfter`, or now, and adds it where none waits, in the transaction
 * `tx`. For queues of policy `short`.
 */
export async function enqueueUnder<Data extends object>(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: JobDefinition<Data>,
  key: string,
  { data, startAfter }: Pick<JobRequest<Data>, 'data' | 'startAfter'>,
): Promise<void> {
  // `0` means now by the clock of the database; left out it would mean the time that the job has already.
  const options = { singletonKey: key, startAfter: startAfter ?? '0', db: bossDatabase(tx) }
  await app.boss.upsert(definition.name, definition.schema.parse(data), options)
}

/** Takes back jobs that have not begun, by the ids they were added under. */
export async function deleteJobs(
  app: Pick<App, 'boss'>,
  tx: Sql,
  definition: Pick<JobDefinition<object>, 'name'>,
  ids: readonly string[],
): Promise<void> {
  if (ids.length > 0) await app.boss.deleteJob(definition.name, [...ids], { db: bossDatabase(tx) })
}
