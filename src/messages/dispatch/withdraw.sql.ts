// SQL of messages of campaigns that are cancelled because they must not leave any more.
import type { Sql } from '../../core/database/database.ts'
import { isUnsent } from '../accept/unsent.sql.ts'
import type { EventfulMessage } from '../events.ts'

export interface Withdrawn extends EventfulMessage {
  ownerId: string
  /** The month whose quota comes back; null if it held none. */
  period: string | null
}

/**
 * At most `batch` messages of campaigns to these contacts that no provider has. Relies on the row locks of {@link lockMessagesOf} and on the
 * index of messages by contact.
 */
export async function readUnsentTo(
  tx: Sql,
  contactIds: readonly string[],
  batch: number,
): Promise<{ id: string; campaignId: string; waiting: boolean }[]> {
  const { rows } = await tx.query<{ id: string; campaignId: string; waiting: boolean }>(
    `select m.id, m."campaignId", m."waitingSince" is not null as waiting from messages m
     where m."contactId" = any($1::uuid[]) and m."campaignId" is not null and ${isUnsent} order by m.id limit $2`,
    [contactIds, batch],
  )
  return rows
}

/**
 * Locks all messages of these contacts in the order of their ids: claims, outcomes and receipts of them wait for `tx`. The foreign key, which
 * takes the contacts from them, would lock them in any order. Relies on the index of messages by contact.
 */
export async function lockMessagesOf(tx: Sql, contactIds: readonly string[]): Promise<void> {
  await tx.query('select from messages where "contactId" = any($1::uuid[]) order by id for update', [contactIds])
}

/** Cancels messages whose row locks the transaction holds. */
export async function storeWithdrawn(tx: Sql, ids: readonly string[], errors: readonly string[]): Promise<Withdrawn[]> {
  const { rows } = await tx.query<Withdrawn>({
    name: 'messages.withdraw',
    text: `with locked as (
        select m.id, m."countedPeriod"::text as period, w."ownerId", u.error from unnest($1::uuid[], $2::text[]) as u(id, error)
        join messages m on m.id = u.id join workspaces w on w.id = m."workspaceId"
      )
      update messages m set status = 'cancelled', error = locked.error, "cancelledAt" = now(), "updatedAt" = now(), "leaseToken" = null,
        "leaseUntil" = null, "waitingSince" = null, "countedPeriod" = null
      from locked where m.id = locked.id
      returning m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.reference, locked."ownerId", locked.period`,
    values: [ids, errors],
  })
  return rows
}
