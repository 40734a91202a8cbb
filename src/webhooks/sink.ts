// Turns events into deliveries: one for each endpoint that subscribes to them, in the transaction that numbers the events (fan-out).
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { newId } from '../core/id.ts'
import type { LogEvent } from '../events/log/log.ts'
import type { RelaySink } from '../events/log/relay.ts'
import { enqueueDue } from './deliver-job.ts'
import { insertDeliveries, readEnabled } from './deliveries.sql.ts'

/** Deliveries per statement: for many endpoints of a busy workspace, a single statement could exceed the query timeout of the relay. */
const chunkSize = 1_000

interface Target {
  endpointId: string
  event: LogEvent
}

export function webhookSink(app: App): RelaySink {
  return async (tx, events) => {
    const targets = await findTargets(tx, events)
    for (let from = 0; from < targets.length; from += chunkSize)
      await addDeliveries(app, tx, targets.slice(from, from + chunkSize))
  }
}

async function addDeliveries(app: App, tx: Sql, targets: readonly Target[]): Promise<void> {
  const deliveries = targets.map((target) => ({ id: newId(), ...target }))
  await insertDeliveries(tx, deliveries)
  await enqueueDue(app, tx, deliveries)
}

async function findTargets(tx: Sql, events: readonly LogEvent[]): Promise<Target[]> {
  const endpoints = await readEnabled(tx, [...new Set(events.map((event) => event.workspaceId))])
  const byWorkspace = Map.groupBy(endpoints, ({ workspaceId }) => workspaceId)
  return events.flatMap((event) => {
    const subscribed = byWorkspace.get(event.workspaceId)?.filter(({ events: types }) => types.includes(event.type)) ?? []
    return subscribed.map(({ id: endpointId }) => ({ endpointId, event }))
  })
}
