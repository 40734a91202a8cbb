// SQL of failed messages.
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'
import type { EventfulMessage } from '../events.ts'
import { mayHaveLeft } from './claim.sql.ts'

export interface Failing {
  id: string
  error: string
  /** The network's reason in its own words. */
  detail?: string
  /** Fencing token: the message fails only while it has this lease. Left out if the caller holds the row lock. */
  token?: string
  /** With `token`: true if an attempt before that lease may have reached the network. */
  mayHaveLeft?: boolean
}

/** A message that failed, with the owner and the month whose quota comes back. */
export interface FailedMessage extends EventfulMessage {
  ownerId: string
  period: string | null
  now: Date
}

/** Fails those messages that no provider has accepted. Locks them in the order of their ids, so that two batches do not deadlock. */
export async function storeFailures(tx: Sql, failing: readonly Failing[]): Promise<FailedMessage[]> {
  const { rows } = await tx.query<FailedMessage>({
    name: 'messages.fail',
    text: `with locked as (
        select m.id, m."countedPeriod", f.error, f.detail, coalesce(f."left", ${mayHaveLeft}) as "left" from messages m
        join unnest($1::uuid[], $2::text[], $3::uuid[], $4::boolean[], $5::text[]) as f(id, error, token, "left", detail) on f.id = m.id
        where ${unindexed(`m.status in ('queued', 'sending') and m."acceptedAt" is null`)} and (f.token is null or m."leaseToken" = f.token)
        order by m.id for update of m
      )
      update messages m set status = 'failed', error = locked.error, "errorDetail" = locked.detail, "failedAt" = now(), "updatedAt" = now(), "leaseToken" = null,
        "leaseUntil" = null, "waitingSince" = null, "countedPeriod" = case when locked."left" then locked."countedPeriod" end
      from locked, workspaces w where m.id = locked.id and w.id = m."workspaceId"
      returning m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.reference, m.error, w."ownerId",
        case when m."countedPeriod" is null then locked."countedPeriod"::text end as period, now() as now`,
    values: [
      failing.map((item) => item.id),
      failing.map((item) => item.error),
      failing.map((item) => item.token ?? null),
      failing.map((item) => item.mayHaveLeft ?? null),
      failing.map((item) => item.detail ?? null),
    ],
  })
  return rows
}
