// The job queues that dispatch messages to providers, and the priorities in them.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { defineJob, deleteJobs, enqueue, type JobRequest } from '../../core/jobs/jobs.ts'
import { shareJobs } from '../../core/jobs/shared-jobs.ts'

/**
 * Instant messages overtake scheduled ones, and both those of large bulks. Behind 9,000 messages that another account sent in bulks, a single one
 * took 4 s on a busy machine. It waits for one batch now (1.5 s there), however many messages are queued. Nobody can queue as many single
 * messages, because the requests of each caller are limited.
 */
const priorities = { single: { instant: 10, scheduled: 8 }, bulk: { instant: 6, scheduled: 5 } } as const

/** The messages of a larger bulk leave after single ones. A few dispatch jobs more would not delay those. */
export const largeBulk = 10

/** One message, or several that became due together. */
const schema = z.union([z.object({ id: z.string() }), z.object({ ids: z.array(z.string()) })])

type DispatchData = z.infer<typeof schema>

/** The messages of a job. */
export const idsOf = (data: DispatchData): readonly string[] => ('ids' in data ? data.ids : [data.id])

const options = {
  retryLimit: 1000,
  retryDelay: 0,
  heartbeatSeconds: 10,
  expireInSeconds: 120,
  deleteAfterSeconds: 60,
} as const

export const dispatchJob = defineJob({ name: 'message.dispatch', schema, options })
/** Campaign messages have their own queue and workers, so that instant messages never wait behind them. */
export const campaignDispatchJob = defineJob({ name: 'message.dispatch.campaign', schema, options })

export const dispatchQueues: readonly string[] = [dispatchJob.name, campaignDispatchJob.name]

export interface Dispatchable {
  id: string
  scheduledAt: Date | null
  campaignId: string | null
}

/** A job of one message. */
export interface DispatchRequest extends JobRequest<{ id: string }> {
  job: typeof dispatchJob
}

function jobOf({ campaignId }: Pick<Dispatchable, 'campaignId'>): typeof dispatchJob {
  return campaignId ? campaignDispatchJob : dispatchJob
}

/** `inBulk`: the message is one of a large bulk. */
export function dispatchRequest(message: Dispatchable, startAfter?: Date, inBulk = false): DispatchRequest {
  return {
    job: jobOf(message),
    data: { id: message.id },
    priority: priorities[inBulk ? 'bulk' : 'single'][message.scheduledAt ? 'scheduled' : 'instant'],
    startAfter,
  }
}

/**
 * The job that expires a waiting message, behind messages that may leave. Its id is the message's id, so a message that waits again gets no second job.
 */
export function expiryRequest(message: Dispatchable, startAfter: Date): DispatchRequest {
  return { ...dispatchRequest(message, startAfter, true), id: message.id }
}

/**
 * The job that checks a message when its lease is over. Its id is the token of the lease, so that it can be deleted when the attempt is
 * settled.
 */
export function guardRequest(message: Dispatchable & { token: string; guardAt: Date }): DispatchRequest {
  return { ...dispatchRequest(message, message.guardAt), id: message.token }
}

type Endable = Pick<Dispatchable, 'id' | 'campaignId'>

/** Deletes the jobs that expire those of these messages that wait. They start only at the end of the time to live, which may be a day away. */
export async function dropExpiries(
  app: Pick<App, 'boss'>,
  tx: Sql,
  messages: readonly (Endable & { waiting: boolean })[],
): Promise<void> {
  await dropJobs(
    app,
    tx,
    messages.filter(({ waiting }) => waiting),
    ({ id }) => id,
  )
}

/** Deletes the jobs that guard these attempts. */
export async function dropGuards(
  app: Pick<App, 'boss'>,
  tx: Sql,
  guarded: readonly (Endable & { token: string })[],
): Promise<void> {
  await dropJobs(app, tx, guarded, ({ token }) => token)
}

async function dropJobs<M extends Endable>(
  app: Pick<App, 'boss'>,
  tx: Sql,
  messages: readonly M[],
  jobIdOf: (message: M) => string,
): Promise<void> {
  for (const [job, list] of Map.groupBy(messages, jobOf)) await deleteJobs(app, tx, job, list.map(jobIdOf))
}

/** Adds jobs in one statement. */
export type AddJobs = (tx: Sql) => Promise<void>

/** Adds the jobs to their queues, in the transaction `tx`. Messages that are due at once share jobs. */
export async function enqueueDispatch(app: Pick<App, 'boss'>, tx: Sql, requests: readonly DispatchRequest[]): Promise<void> {
  for (const add of dispatchJobs(app, requests)) await add(tx)
}

/** The statements that add these jobs, one for each queue. Messages that are due at once share jobs, which start at `startAfter`. */
export function dispatchJobs(app: Pick<App, 'boss'>, requests: readonly DispatchRequest[], startAfter?: Date): AddJobs[] {
  return [...Map.groupBy(requests, (request) => request.job)].map(([job, list]) => {
    const jobs = shareJobs(list, (several) => ({ ids: several.map(({ id }) => id) }))
    const all = jobs.map((request) => ({ ...request, startAfter: request.startAfter ?? startAfter }))
    return (tx) => enqueue(app, tx, job, all)
  })
}
