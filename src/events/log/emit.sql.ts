// SQL of the outbox.
import type { Sql } from '../../core/database/database.ts'
import type { Subject } from './define.ts'

interface OutboxRow extends Subject {
  id: string
  workspaceId: string
  type: string
  /** JSON text. */
  payload: string
}

/** Inserts rows in one statement. `position` counts up in their order, and the relay numbers them in that order. */
export async function insertOutbox(tx: Sql, rows: readonly OutboxRow[]): Promise<void> {
  await tx.query({
    name: 'events.emit',
    text: `insert into outbox (id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::uuid[], $6::uuid[], $7::json[])`,
    values: [
      rows.map((row) => row.id),
      rows.map((row) => row.workspaceId),
      rows.map((row) => row.type),
      rows.map((row) => row.instanceId ?? null),
      rows.map((row) => row.messageId ?? null),
      rows.map((row) => row.campaignId ?? null),
      rows.map((row) => row.payload),
    ],
  })
}
