// Counts the outcomes of messages by instance and day (UTC), once each, in the transaction that numbers their events.
import { definePrune } from '../core/jobs/prune.ts'
import type { RelaySink } from '../events/log/relay.ts'
import { addToDays, type CountedDay } from './days.sql.ts'

const counted = ['sent', 'delivered', 'read', 'failed', 'received'] as const
const statusOf = new Map(counted.map((status) => [`message.${status}`, status]))

/** Adds one statement to a batch of the relay, and no work to the transactions that accept and report messages. */
export const countDays: RelaySink = async (tx, events) => {
  const days = new Map<string, CountedDay>()
  for (const { type, workspaceId, instanceId, createdAt } of events) {
    const status = statusOf.get(type)
    if (!status || instanceId === null) continue
    const day = createdAt.toISOString().slice(0, 10)
    const key = `${instanceId} ${day}`
    const counts = days.get(key) ?? { workspaceId, instanceId, day, sent: 0, delivered: 0, read: 0, failed: 0, received: 0 }
    counts[status]++
    days.set(key, counts)
  }
  if (days.size > 0) await addToDays(tx, [...days.values()])
}

/** Days that are kept. */
const keptDays = 400

export const pruneDays = definePrune(
  { name: 'messages.prune-days', cron: '53 3 * * *' },
  { table: 'message_days', where: 'day < (now() - make_interval(days => $2))::date', values: [keptDays] },
)
