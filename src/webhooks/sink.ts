// Turns events into deliveries, in the transaction that numbers the events.
import type { App } from '../core/app.ts'
import type { RelaySink } from '../events/log/relay.ts'
import { readEnabled } from './deliveries.sql.ts'
import { addDeliveries, addLater, targetsOf } from './fan-out.ts'

/** Most deliveries of a workspace from one batch of events that leave before those of others. */
const mostSingle = 100
/**
 * Most that are added together with the numbers of the events. Jobs add those of a busy workspace, because the events of all others wait for the
 * relay: beside 4,000 messages of an account with 20 endpoints, three webhooks of another account took over a minute.
 */
const mostAtOnce = 1_000

export function webhookSink(app: App): RelaySink {
  return async (tx, events) => {
    const endpoints = await readEnabled(tx, [...new Set(events.map((event) => event.workspaceId))])
    const byWorkspace = Map.groupBy(targetsOf(events, endpoints), ({ event }) => event.workspaceId)
    const bySize = Map.groupBy(byWorkspace.values(), ({ length }) =>
      length <= mostSingle ? 'single' : length <= mostAtOnce ? 'bulk' : 'later',
    )
    for (const urgency of ['single', 'bulk'] as const) await addDeliveries(app, tx, bySize.get(urgency)?.flat() ?? [], urgency)
    for (const targets of bySize.get('later') ?? []) await addLater(app, tx, targets)
  }
}
