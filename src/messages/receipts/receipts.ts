// Applies the network's receipts for outbound messages. Late, duplicate and out-of-order receipts change nothing.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import type { NewEvent } from '../../events/log/define.ts'
import { emit } from '../../events/log/emit.ts'
import type { MessageStatus } from '../../generated/prisma/client.ts'
import type { Receipt, ReceiptStatus } from '../../providers/provider.ts'
import { messageEvent } from '../events.ts'
import { reached } from './status-order.ts'

interface Row {
  position: number
  id: string
  workspaceId: string
  instanceId: string
  campaignId: string | null
  providerMessageId: string | null
  to: string
  status: MessageStatus
}

interface Change {
  row: Row
  status: ReceiptStatus
  error: string | null
  at: Partial<Record<ReceiptStatus, Date>>
}

/**
 * Applies receipts in one transaction and emits one event for each status that a message newly reaches. Returns the receipts of unknown
 * messages. These are worth a retry, because a provider can answer faster than our own commit.
 */
export async function applyReceipts(app: App, receipts: readonly Receipt[]): Promise<Receipt[]> {
  const unknown = await sqlTransaction(app.pool, async (tx) => {
    const rows = await hold(tx, receipts)
    const byPosition = new Map(rows.map((row) => [row.position, row]))
    const changes = new Map<string, Change>()
    const events: NewEvent[] = []
    for (const [i, receipt] of receipts.entries()) {
      const row = byPosition.get(i + 1)
      if (!row) continue
      const change = changes.get(row.id) ?? { row, status: row.status as ReceiptStatus, error: null, at: {} }
      for (const status of reached(change.status, receipt.status)) {
        change.status = status
        change.at[status] = receipt.at
        if (status === 'failed') change.error = receipt.error ?? 'PROVIDER_ERROR'
        const providerMessageId = row.providerMessageId ?? receipt.providerMessageId ?? null
        changes.set(row.id, { ...change, row: { ...row, providerMessageId } })
        events.push(messageEvent({ ...row, providerMessageId, error: change.error }, status, receipt.at))
      }
    }
    await store(tx, [...changes.values()])
    await emit(tx, events)
    return receipts.filter((_, i) => !byPosition.has(i + 1))
  })
  app.signals.emit('outbox')
  return unknown
}

async function hold(tx: Sql, receipts: readonly Receipt[]): Promise<Row[]> {
  const { rows } = await tx.query<Row>({
    name: 'messages.receipts.hold',
    text: `with asked as (
        select i::int as position, instance, nullif(reference, '')::uuid as reference, provider
        from unnest($1::uuid[], $2::text[], $3::text[]) with ordinality as u(instance, reference, provider, i)
      ), found as (
        select a.position, m.id from asked a join messages m on m.id = a.reference and m."instanceId" = a.instance
        union
        select a.position, m.id from asked a join messages m on m."instanceId" = a.instance and m."providerMessageId" = a.provider
        where a.reference is null
      ), held as (
        select m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.status
        from messages m where m.id in (select id from found) and m.direction = 'outbound' order by m.id for update
      )
      select f.position, h.* from found f join held h on h.id = f.id`,
    values: [
      receipts.map((receipt) => receipt.instanceId),
      receipts.map((receipt) => receipt.reference ?? ''),
      receipts.map((receipt) => receipt.providerMessageId ?? null),
    ],
  })
  return rows
}

async function store(tx: Sql, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  // A receipt proves that the provider accepted the message, even if our own record of the send is missing.
  await tx.query({
    name: 'messages.receipts.store',
    text: `update messages m set status = c.status, error = coalesce(c.error, m.error),
        "providerMessageId" = coalesce(m."providerMessageId", c.provider), "acceptedAt" = coalesce(m."acceptedAt", now()),
        "sentAt" = coalesce(m."sentAt", c.sent), "deliveredAt" = coalesce(m."deliveredAt", c.delivered),
        "readAt" = coalesce(m."readAt", c.read), "failedAt" = coalesce(m."failedAt", c.failed), "waitingSince" = null, "updatedAt" = now()
      from unnest($1::uuid[], $2::message_status[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[])
        as c(id, status, error, provider, sent, delivered, read, failed)
      where m.id = c.id`,
    values: [
      changes.map(({ row }) => row.id),
      changes.map(({ status }) => status),
      changes.map(({ error }) => error),
      changes.map(({ row }) => row.providerMessageId),
      ...(['sent', 'delivered', 'read', 'failed'] as const).map((status) => changes.map(({ at }) => at[status] ?? null)),
    ],
  })
}
