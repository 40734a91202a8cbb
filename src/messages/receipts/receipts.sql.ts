// SQL of receipts: the row locks of their messages, and the new statuses.
import { arrayOf } from '../../core/database/array-parameter.ts'
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'
import type { MessageStatus } from '../../generated/prisma/client.ts'
import type { Receipt, ReceiptStatus } from '../../providers/reports.ts'
import type { EventfulMessage } from '../events.ts'

export interface ReceiptRow extends EventfulMessage {
  position: number
  /** True for an earlier message to the same number that is accepted and not reported yet. */
  earlier: boolean
  status: MessageStatus
  peer: string
  /** True if nothing had told yet that the network has the message. */
  unsettled: boolean
}

/** The statuses that receipts make one message reach. */
export interface Change {
  row: ReceiptRow
  status: ReceiptStatus
  error: string | null
  detail: string | null
  at: Partial<Record<ReceiptStatus, Date>>
}

/** A message whose row lock was not taken. */
type UnlockedRow = Pick<ReceiptRow, 'position'> & { id: null }

/** Says which receipts must wait for another transaction, which has locked their messages, as long as that takes. */
export class MessageInUse extends Error {
  readonly receipts: readonly Receipt[]

  constructor(receipts: readonly Receipt[]) {
    super('a receipt must wait for another transaction')
    this.receipts = receipts
  }
}

/**
 * Locks the outbound messages of receipts, in the order of their ids. Finds each by our id (primary key), if it is one of a message
 * of that instance, or else by the provider's id (unique index of instance and provider's id). `position` is the place of its receipt, from 1.
 * Also locks and returns, in the order in which they left, earlier messages to the same number that the network has accepted and not
 * reported yet (partial index messages_unreported_idx). They may be on their way in another process. Each stands once, at the first receipt
 * that says that a later one left: at all of these receipts, 1,000 such messages with 500 receipts took 10 s. `offset 0` looks rows up for each
 * receipt: without fresh statistics the planner would rather read all of an index, and took 3 s with 2,000 messages on their way.
 * @throws MessageInUse when another transaction has locked one of them, unless the call `waits` for it.
 */
export async function lockMessages(tx: Sql, receipts: readonly Receipt[], waits = true): Promise<ReceiptRow[]> {
  const { rows } = await tx.query<ReceiptRow | UnlockedRow>({
    name: waits ? 'messages.receipts.lock' : 'messages.receipts.lock_free',
    text: `with asked as (
        select i::int as position, instance, nullif(message, '')::uuid as message, provider, reaches
        from unnest(${arrayOf('$1', 'uuid')}, $2::text[], $3::text[], $4::boolean[]) with ordinality as u(instance, message, provider, reaches, i)
      ), named as (
        select a.position, a.reaches, m.id from asked a cross join lateral (
          select id from messages where id = a.message and ${unindexed(`"instanceId" = a.instance and direction = 'outbound'`)} offset 0
        ) m
      ), found as (
        select position, reaches, id from named
        union
        select a.position, a.reaches, m.id from asked a cross join lateral (
          select id from messages
          where "instanceId" = a.instance and "providerMessageId" = a.provider and ${unindexed(`direction = 'outbound'`)} offset 0
        ) m
        where not exists (select from named n where n.position = a.position)
      ), open as materialized (
        select f.position, m.id, m."instanceId", m.peer, m."dueAt", m."createdAt"
        from found f join messages m on m.id = f.id and f.reaches and ${unindexed(`m.status in ('queued', 'sending')`)}
      ), last as materialized (
        select distinct on ("instanceId", peer) * from open order by "instanceId", peer, "dueAt" desc, "createdAt" desc, id desc
      ), before as (
        select e.id, row_number() over (order by e."dueAt", e."createdAt", e.id) as place, (
          select min(o.position) from open o where o."instanceId" = l."instanceId" and o.peer = l.peer
            and (o."dueAt", o."createdAt", o.id) > (e."dueAt", e."createdAt", e.id)) as position
        from last l cross join lateral (
          select m.id, m."dueAt", m."createdAt" from messages m
          where m."instanceId" = l."instanceId" and m.peer = l.peer and m.direction = 'outbound' and m.status = 'sending'
            and m."acceptedAt" is not null and (m."dueAt", m."createdAt", m.id) < (l."dueAt", l."createdAt", l.id) offset 0
        ) e
      ), locked as (
        select m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.reference, m.status, m.peer,
          m."acceptedAt" is null and m.status = 'sending' as unsettled
        from messages m where m.id = any(array(select id from found union select id from before))
        order by m.id for update ${waits ? '' : 'skip locked'}
      )
      select f.position, f.earlier, l.*
      from (select position, false as earlier, id, 0 as place from found union all select position, true, id, place from before) f
      left join locked l on l.id = f.id order by f.place`,
    values: [
      receipts.map((receipt) => receipt.instanceId),
      receipts.map((receipt) => receipt.messageId ?? ''),
      receipts.map((receipt) => receipt.providerMessageId ?? null),
      receipts.map(({ status }) => status !== 'failed'),
    ],
  })
  const locked = rows.filter((row): row is ReceiptRow => row.id !== null)
  if (!waits && locked.length < rows.length)
    throw new MessageInUse(rows.flatMap(({ id, position }) => (id === null ? (receipts[position - 1] as Receipt) : [])))
  // Those of the others were deleted meanwhile.
  return locked
}

/** Stores the statuses that messages reached, with their times. A provider's id that another message has is left out. */
export async function storeReceipts(tx: Sql, changes: readonly Change[]): Promise<void> {
  if (changes.length === 0) return
  const ids = new Set<string>()
  const newOf = ({ row: { instanceId, providerMessageId } }: Change) => {
    const key = `${instanceId} ${providerMessageId}`
    return ids.size < ids.add(key).size ? providerMessageId : null
  }
  // A receipt proves that the provider accepted the message, even if our own record of the send is missing.
  await tx.query({
    name: 'messages.receipts.store',
    text: `update messages m set status = c.status, error = coalesce(c.error, m.error), "errorDetail" = coalesce(c.detail, m."errorDetail"),
        "providerMessageId" = coalesce(m."providerMessageId", case when not exists (
          select from messages o where o."instanceId" = m."instanceId" and o."providerMessageId" = c.provider) then c.provider end),
        "acceptedAt" = coalesce(m."acceptedAt", now()),
        "sentAt" = coalesce(m."sentAt", c.sent), "deliveredAt" = coalesce(m."deliveredAt", c.delivered),
        "readAt" = coalesce(m."readAt", c.read), "failedAt" = coalesce(m."failedAt", c.failed), "waitingSince" = null, "updatedAt" = now()
      from unnest(${arrayOf('$1', 'uuid')}, $2::message_status[], $3::text[], $4::text[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[], $8::timestamptz[],
          $9::text[])
        as c(id, status, error, provider, sent, delivered, read, failed, detail)
      where m.id = c.id`,
    values: [
      changes.map(({ row }) => row.id),
      changes.map(({ status }) => status),
      changes.map(({ error }) => error),
      changes.map(newOf),
      ...(['sent', 'delivered', 'read', 'failed'] as const).map((status) => changes.map(({ at }) => at[status] ?? null)),
      changes.map(({ detail }) => detail),
    ],
  })
}
