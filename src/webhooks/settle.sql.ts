// SQL of the outcomes of attempts, and of deliveries that end without one.
import type { Sql } from '../core/database/database.ts'
import type { Attempt } from './attempt.ts'
import type { ClaimedDelivery } from './claim.sql.ts'

export interface Settlement extends Attempt {
  delivery: ClaimedDelivery
}

export interface Written {
  id: string
  endpointId: string
  nextAttemptAt: Date | null
}

/** Those of the settlements whose lease and attempt number still hold, by primary key. It locks nothing. */
export async function readHeld(tx: Sql, settlements: readonly Settlement[]): Promise<Settlement[]> {
  const { rows } = await tx.query<{ n: number }>({
    name: 'webhooks.held',
    text: `select s.n::int from unnest($1::uuid[], $2::uuid[], $3::int[]) with ordinality as s(id, token, attempt, n)
      join webhook_deliveries d on d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt`,
    values: [
      settlements.map(({ delivery }) => delivery.id),
      settlements.map(({ delivery }) => delivery.token),
      settlements.map(({ delivery }) => delivery.attempt),
    ],
  })
  const held = new Set(rows.map(({ n }) => n))
  return settlements.filter((_, i) => held.has(i + 1))
}

/**
 * Writes the outcomes of attempts whose lease and attempt number still hold (fencing token), by primary key, and the attempts into the log
 * of their deliveries. `gaps` are the milliseconds to the next attempt. Returns what was written.
 */
export async function writeVerdicts(
  tx: Sql,
  settlements: readonly Settlement[],
  gaps: readonly (number | null)[],
): Promise<Written[]> {
  const { rows } = await tx.query<Written>({
    name: 'webhooks.settle',
    text: `with s as (
        select u.*, u.gap is not null and e."disabledAt" is null and e."deletedAt" is null as goes_on
        from unnest($1::uuid[], $2::uuid[], $3::int[], $4::uuid[], $5::bool[], $6::int[], $7::text[], $8::float8[],
            $9::timestamptz[], $10::int[], $11::text[], $12::json[])
          as u(id, endpoint, attempt, token, delivered, code, error, gap, at, duration, answer, headers)
        join webhook_endpoints e on e.id = u.endpoint
      ), written as (
        update webhook_deliveries d set
          status = (case when s.delivered then 'delivered' when s.goes_on then 'retrying' else 'failed' end)::delivery_status,
          "responseCode" = s.code, error = s.error,
          "deliveredAt" = case when s.delivered then clock_timestamp() else d."deliveredAt" end,
          "attemptsLeft" = case when s.goes_on then d."attemptsLeft" else 0 end,
          "nextAttemptAt" = case when s.goes_on then clock_timestamp() + s.gap * interval '1 millisecond' end,
          "leaseToken" = null, "leaseUntil" = null
        from s where d.id = s.id and d."leaseToken" = s.token and d.attempts = s.attempt
        returning d.id, d."endpointId", d."nextAttemptAt"
      ), logged as (
        insert into webhook_attempts ("deliveryId", attempt, "endpointId", at, "durationMs", "responseCode", error, answer, headers)
        select s.id, s.attempt, s.endpoint, s.at, s.duration, s.code, s.error, s.answer, s.headers from s join written using (id)
      )
      select * from written`,
    values: [
      settlements.map(({ delivery }) => delivery.id),
      settlements.map(({ delivery }) => delivery.endpointId),
      settlements.map(({ delivery }) => delivery.attempt),
      settlements.map(({ delivery }) => delivery.token),
      settlements.map(({ verdict }) => verdict.delivered),
      settlements.map(({ verdict }) => verdict.responseCode),
      settlements.map(({ verdict }) => verdict.error),
      gaps,
      settlements.map(({ at }) => at),
      settlements.map(({ durationMs }) => durationMs),
      settlements.map(({ answer }) => answer),
      settlements.map(({ headers }) => headers && JSON.stringify(headers)),
    ],
  })
  return rows
}

/** Maximum number of deliveries that one statement ends. */
export const endedAtOnce = 2_000

/**
 * Cancels the pending deliveries of endpoints that are disabled or deleted: at most {@link endedAtOnce} of them all, and the sweep cancels
 * the rest. An attempt in progress runs to its own end.
 */
export async function cancelDeliveries(
  tx: Sql,
  endpointIds: readonly string[],
  reason: 'endpoint_disabled' | 'endpoint_deleted',
): Promise<void> {
  if (endpointIds.length === 0) return
  await tx.query(
    `update webhook_deliveries set status = 'failed', error = $2, "attemptsLeft" = 0, "byHand" = false, "nextAttemptAt" = null,
       "leaseToken" = null, "leaseUntil" = null
     where id in (
       select d.id from unnest($1::uuid[]) as endpoint(id) cross join lateral (
         select id from webhook_deliveries where "endpointId" = endpoint.id and "nextAttemptAt" is not null
           and ("leaseUntil" is null or "leaseUntil" <= now()) order by "nextAttemptAt" limit $3 for update
       ) d limit $3
     )`,
    [endpointIds, reason, endedAtOnce],
  )
}
