// Writes events to the outbox, in the transaction of the change that they report (transactional outbox).
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'

export const eventTypes = [
  'instance.connected',
  'instance.disconnected',
  'message.sent',
  'message.delivered',
  'message.read',
  'message.failed',
  'message.received',
] as const
export type EventType = (typeof eventTypes)[number]

export interface NewEvent {
  workspaceId: string
  type: EventType
  instanceId: string
  messageId?: string | null
  campaignId?: string | null
  /** The webhook body without `id`, `event` and `timestamp`, which `emit` adds. */
  fields: Record<string, string | null>
  at: Date
}

/** Inserts events in the caller's transaction, in order. Call `signals.emit('outbox')` after the commit to wake the relay. */
export async function emit(tx: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => {
    const id = newId()
    const payload = { id, event: event.type, ...event.fields, timestamp: event.at.toISOString() }
    return { ...event, id, payload: JSON.stringify(payload) }
  })
  await tx.query({
    name: 'events.emit',
    text: `insert into outbox (id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::json[])`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.type),
      rows.map((row) => row.instanceId),
      rows.map((row) => row.messageId ?? null),
      rows.map((row) => row.campaignId ?? null),
      rows.map((row) => row.payload),
    ],
  })
}
