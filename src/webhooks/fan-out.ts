// Adds the deliveries of events: one for each endpoint that subscribes to them (fan-out).
import { z } from 'zod'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'
import { defineJob, enqueue, implementJob } from '../core/jobs/jobs.ts'
import { readAfter } from '../events/log/log.sql.ts'
import type { LogEvent } from '../events/log/log.ts'
import { enqueueDue, type Urgency } from './deliver-job.ts'
import { hasDeliveries, insertDeliveries, readSubscribed, type Subscribed } from './deliveries.sql.ts'

/** Deliveries per statement: a single one for all could exceed the query timeout of the relay. */
const chunkSize = 1_000
/** Deliveries of one job, about. */
const ofOneJob = 2_000

/** An event that an endpoint of its workspace subscribes to. */
export interface Target {
  endpointId: string
  event: LogEvent
}

/** Adds the deliveries of the events of a workspace with the numbers from `first` to `last`, to these endpoints. */
const fanOutJob = defineJob({
  name: 'webhook.fan_out',
  schema: z.object({ workspaceId: z.string(), endpointIds: z.array(z.string()), first: z.string(), last: z.string() }),
  options: { retryLimit: 1000, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 120, deleteAfterSeconds: 60 },
})

export function targetsOf(events: readonly LogEvent[], endpoints: readonly Subscribed[]): Target[] {
  const byWorkspace = Map.groupBy(endpoints, ({ workspaceId }) => workspaceId)
  return events.flatMap((event) => {
    const subscribed = byWorkspace.get(event.workspaceId)?.filter(({ events: types }) => types.includes(event.type)) ?? []
    return subscribed.map(({ id: endpointId }) => ({ endpointId, event }))
  })
}

export async function addDeliveries(app: App, tx: Sql, targets: readonly Target[], urgency: Urgency): Promise<void> {
  for (let from = 0; from < targets.length; from += chunkSize) {
    const deliveries = targets.slice(from, from + chunkSize).map((target) => ({ id: newId(), ...target }))
    await insertDeliveries(tx, deliveries)
    await enqueueDue(app, tx, deliveries, urgency)
  }
}

/** Lets jobs add the deliveries of one workspace. `targets` are all those of the events that they name, in the order of these. */
export async function addLater(app: App, tx: Sql, targets: readonly Target[]): Promise<void> {
  const endpointIds = [...new Set(targets.map(({ endpointId }) => endpointId))]
  const events = [...new Set(targets.map(({ event }) => event))]
  const perJob = Math.ceil(ofOneJob / endpointIds.length)
  const jobs = []
  for (let from = 0; from < events.length; from += perJob) {
    const some = events.slice(from, from + perJob)
    const [first, last] = [some[0] as LogEvent, some.at(-1) as LogEvent]
    const { workspaceId } = first
    jobs.push({ data: { workspaceId, endpointIds, first: `${first.seq}`, last: `${last.seq}` }, group: workspaceId })
  }
  await enqueue(app, tx, fanOutJob, jobs)
}

export const fanOutImplementation = implementJob(fanOutJob, { batchSize: 1, workers: 2, perGroup: 1 }, async (app, jobs) => {
  for (const { workspaceId, endpointIds, first, last } of jobs) {
    await sqlTransaction(app.pool, async (tx) => {
      const range = { after: BigInt(first) - 1n, upTo: BigInt(last), limit: ofOneJob }
      const { events } = await readAfter(tx, workspaceId, {}, range)
      // This job ran before, and its process died before it was completed.
      if (await hasDeliveries(tx, events, endpointIds)) return
      // The sweep ends the deliveries to endpoints that were disabled meanwhile, as those that they had by then.
      await addDeliveries(app, tx, targetsOf(events, await readSubscribed(tx, endpointIds)), 'bulk')
    })
  }
  return jobs.map(() => undefined)
})
