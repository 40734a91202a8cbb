// SQL of claims: counts and leases attempts before they are made. Rows that another claim takes at the same time are skipped.
import { arrayOf } from '../core/database/array-parameter.ts'
import type { Sql } from '../core/database/database.ts'
import { unindexed } from '../core/database/unindexed.ts'
import { leaseMs } from './policy.ts'

/** The lease on an attempt of a delivery. */
export interface Lease {
  /** Id of the delivery. */
  id: string
  /** That of the claim. */
  token: string
}

export interface ClaimedDelivery extends Lease {
  endpointId: string
  eventId: string
  type: string
  /** Number of this attempt. Together with the lease token it is the fencing token. */
  attempt: number
  attemptsLeft: number
  /** JSON text, the same at every attempt. */
  body: string
  url: string
  /** Encrypted (sealed). */
  secret: Buffer
  previousSecret: Buffer | null
  /** True if the endpoint has only failed since its last success. */
  failing: boolean
}

/** A claim that runs again finds what it has leased. */
const again = '"leaseToken" is not distinct from (select $1::uuid)'
const isDue = '"nextAttemptAt" <= now()'
const isFree = `("leaseUntil" is null or "leaseUntil" <= now() or ${again})`

// The rows are locked by their ids first. In one join with the endpoints, PostgreSQL takes few endpoints to be enabled and reads all of
// them: 10 ms a statement with 1,000 endpoints.
function claimSql(ids: string): string {
  return `with asked as (
      select id, "endpointId", ${again} as again from webhook_deliveries
      where id = any(${ids}) and ${unindexed(isDue)} and ${isFree} and ("byHand" or "attemptsLeft" > 0 or ${again}) for update skip locked
    ), claimed as (
      update webhook_deliveries d set attempts = attempts + (not again)::int,
        "attemptsLeft" = "attemptsLeft" - (not ("byHand" or again))::int, "byHand" = false,
        "lastAttemptAt" = now(), "leaseToken" = $1, "leaseUntil" = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      from asked join webhook_endpoints e on e.id = asked."endpointId"
      where d.id = asked.id and e."disabledAt" is null and e."deletedAt" is null returning d.*
    )
    select c.id, c."leaseToken" as token, c."endpointId", c."eventId", c.type, c.attempts as attempt, c."attemptsLeft",
      coalesce(c.payload, v.payload)::text as body, e.url, e.secret, case when e."previousSecretUntil" > now() then e."previousSecret" end as "previousSecret",
      e."failingSince" is not null as failing
    from claimed c join webhook_endpoints e on e.id = c."endpointId" left join events v on v.seq = c."eventSeq"`
}

const byIds = claimSql(arrayOf('$2', 'uuid'))
// The oldest due deliveries of each endpoint.
const byEndpoint = claimSql(`array(
        select d.id from unnest(${arrayOf('$2', 'uuid')}, $3::int[]) as u(endpoint, most) cross join lateral (
          select id from webhook_deliveries where "endpointId" = u.endpoint and ${isDue} and ${isFree} order by "nextAttemptAt" limit u.most
        ) d
      )`)

/**
 * Claims those of the deliveries that are due and not leased (primary key). Run again under the same token, it returns the same attempts and
 * counts no others.
 */
export async function claimByIds(sql: Sql, token: string, ids: readonly string[]): Promise<ClaimedDelivery[]> {
  return (await sql.query<ClaimedDelivery>({ name: 'webhooks.claim.one', text: byIds, values: [token, ids] })).rows
}

/**
 * Claims the deliveries of each endpoint that have waited longest, `most` at most (index on endpoint and time of the next attempt). Run again
 * as {@link claimByIds}.
 */
export async function claimWaiting(
  sql: Sql,
  token: string,
  queues: readonly { endpointId: string; most: number }[],
): Promise<ClaimedDelivery[]> {
  const values = [token, queues.map((queue) => queue.endpointId), queues.map((queue) => queue.most)]
  return (await sql.query<ClaimedDelivery>({ name: 'webhooks.claim.waiting', text: byEndpoint, values })).rows
}

/**
 * Extends the leases of attempts in progress. Rows that are locked are left out: their outcomes are being written, and waiting for them
 * with other rows locked could end in a deadlock.
 */
export async function renewLeases(sql: Sql, leases: readonly Lease[]): Promise<void> {
  await sql.query(
    `with own as (
       select d.id from unnest($1::uuid[], $2::uuid[]) as lease(id, token)
       join webhook_deliveries d on d.id = lease.id and d."leaseToken" = lease.token
       for no key update of d skip locked
     )
     update webhook_deliveries d set "leaseUntil" = clock_timestamp() + $3 * interval '1 millisecond' from own where d.id = own.id`,
    [leases.map(({ id }) => id), leases.map(({ token }) => token), leaseMs],
  )
}
