// Fails messages: sets the status, returns the quota, emits the event.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { Sql } from '../../core/database/database.ts'
import { emit } from '../../events/log/emit.ts'
import { messageEvent } from '../events.ts'

export interface Failing {
  id: string
  error: string
  /** Fencing token: the message fails only while it has this lease. Left out if the caller holds the row lock. */
  token?: string
}

interface Row {
  id: string
  workspaceId: string
  instanceId: string
  campaignId: string | null
  providerMessageId: string | null
  to: string
  error: string
  ownerId: string
  period: string | null
  now: Date
}

/**
 * Fails messages that the provider has not accepted, in the transaction `tx`. Returns the ids of those that were still open. Returns their
 * quota, except for UNKNOWN_OUTCOME, because such a message may have been sent.
 */
export async function failMessages(tx: Sql, failing: readonly Failing[]): Promise<string[]> {
  if (failing.length === 0) return []
  const { rows } = await tx.query<Row>({
    name: 'messages.fail',
    text: `with held as (
        select m.id, m."countedPeriod", f.error from messages m
        join unnest($1::uuid[], $2::text[], $3::uuid[]) as f(id, error, token) on f.id = m.id
        where m.status in ('queued', 'sending') and m."acceptedAt" is null and (f.token is null or m."leaseToken" = f.token)
        order by m.id for update of m
      )
      update messages m set status = 'failed', error = held.error, "failedAt" = now(), "updatedAt" = now(), "leaseToken" = null,
        "leaseUntil" = null, "waitingSince" = null, "countedPeriod" = case when held.error = 'UNKNOWN_OUTCOME' then held."countedPeriod" end
      from held, workspaces w where m.id = held.id and w.id = m."workspaceId"
      returning m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.error, w."ownerId",
        case when m."countedPeriod" is null then held."countedPeriod"::text end as period, now() as now`,
    values: [failing.map((item) => item.id), failing.map((item) => item.error), failing.map((item) => item.token ?? null)],
  })
  await returnQuota(
    tx,
    rows.flatMap(({ ownerId, period }) => (period ? [{ ownerId, period }] : [])),
  )
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'failed', row.now)),
  )
  return rows.map((row) => row.id)
}
