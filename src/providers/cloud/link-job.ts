// Job of the connection between an instance and Meta: connects it, subscribes its webhooks again, or ends them after a logout.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { defineJob, delayOf, enqueueUnder, type Start } from '../../core/jobs/jobs.ts'
import { readWorkspace } from './cloud.sql.ts'
import type { Pointing } from './departures.sql.ts'

export const linkJob = defineJob({
  name: 'cloud.link',
  schema: z.object({
    id: z.uuid(),
    step: z.enum(['connect', 'subscribe', 'depart']),
    tries: z.int(),
    /** The workspace of the instance. Jobs of earlier versions do not have it. */
    workspaceId: z.uuid().optional(),
    /** The business account that is left. */
    left: z.string().optional(),
  }),
  // A process that dies leaves the job to another. The job adds itself again if Meta cannot be reached or asks to try again, so retries are
  // for our own faults.
  options: {
    policy: 'short',
    retryLimit: 100,
    retryDelay: 2,
    retryDelayMax: 60,
    retryBackoff: true,
    heartbeatSeconds: 10,
    expireInSeconds: 120,
  },
})

const longestMs = 300_000

/** Enqueues a step for now, or after `tries` that Meta did not answer: 1 s doubling to 5 min, ±20 %. */
export async function enqueueLink(app: App, tx: Sql, id: string, step: 'connect' | 'subscribe', tries = 0): Promise<void> {
  const workspaceId = await readWorkspace(tx, id)
  const request = { data: { id, step, tries, workspaceId }, startAfter: startOf(tries), group: workspaceId }
  await enqueueUnder(app, tx, linkJob, `${step} ${id}`, request)
}

/** {@link enqueueLink} for the end of the webhooks of a business account, at the earliest at `startAfter`. */
export async function enqueueDeparture(
  app: App,
  tx: Sql,
  { instanceId: id, businessAccountId: left }: Pointing,
  { tries = 0, startAfter = startOf(tries) }: { tries?: number; startAfter?: Start } = {},
): Promise<void> {
  const workspaceId = await readWorkspace(tx, id)
  const request = { data: { id, step: 'depart' as const, tries, left, workspaceId }, startAfter, group: workspaceId }
  await enqueueUnder(app, tx, linkJob, `depart ${id} ${left}`, request)
}

function startOf(tries: number): Start | undefined {
  const delayMs = Math.min(longestMs, 1_000 * 2 ** (tries - 1)) * (0.8 + 0.4 * Math.random())
  return tries === 0 ? undefined : delayOf(delayMs)
}
