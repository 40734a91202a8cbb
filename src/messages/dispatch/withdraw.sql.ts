// SQL of messages of campaigns that are cancelled as they are about to leave.
import type { Sql } from '../../core/database/database.ts'
import type { EventfulMessage } from '../events.ts'

export interface Withdrawn extends EventfulMessage {
  ownerId: string
  /** The month whose quota comes back; null if it held none. */
  period: string | null
}

/** Cancels messages whose row locks the transaction holds. */
export async function storeWithdrawn(tx: Sql, ids: readonly string[], errors: readonly string[]): Promise<Withdrawn[]> {
  const { rows } = await tx.query<Withdrawn>({
    name: 'messages.withdraw',
    text: `with held as (
        select m.id, m."countedPeriod"::text as period, w."ownerId", u.error from unnest($1::uuid[], $2::text[]) as u(id, error)
        join messages m on m.id = u.id join workspaces w on w.id = m."workspaceId"
      )
      update messages m set status = 'cancelled', error = held.error, "cancelledAt" = now(), "updatedAt" = now(), "leaseToken" = null,
        "leaseUntil" = null, "waitingSince" = null, "countedPeriod" = null
      from held where m.id = held.id
      returning m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.reference, held."ownerId", held.period`,
    values: [ids, errors],
  })
  return rows
}
