// Claiming: an attempt is counted and leased before it is made, so that a crash can neither repeat it for ever nor forget it.
import type { Sql } from '../core/database.ts'
import { leaseMs } from './policy.ts'

export interface ClaimedDelivery {
  id: string
  endpointId: string
  eventId: string
  type: string
  /** The number of this attempt, which with the token is its fence. */
  attempt: number
  attemptsLeft: number
  /** JSON text, the same at every attempt. */
  body: string
  url: string
  /** Sealed. */
  secret: Buffer
  previousSecret: Buffer | null
  /** Whether the endpoint has done nothing but fail lately. */
  failing: boolean
}

const claimable = `d."nextAttemptAt" <= now() and (d."leaseUntil" is null or d."leaseUntil" <= now())
  and (d."byHand" or d."attemptsLeft" > 0) and e."disabledAt" is null and e."deletedAt" is null`

function claimSql(which: string): string {
  return `with picked as (
      select d.id from webhook_deliveries d join webhook_endpoints e on e.id = d."endpointId"
      where ${claimable} and ${which} for update of d skip locked
    ), claimed as (
      update webhook_deliveries d set attempts = attempts + 1, "attemptsLeft" = "attemptsLeft" - (not "byHand")::int, "byHand" = false,
        "lastAttemptAt" = now(), "leaseToken" = $1, "leaseUntil" = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
      from picked where d.id = picked.id returning d.*
    )
    select c.id, c."endpointId", c."eventId", c.type, c.attempts as attempt, c."attemptsLeft", coalesce(c.payload, v.payload)::text as body,
      e.url, e.secret, case when e."previousSecretUntil" > now() then e."previousSecret" end as "previousSecret",
      e."failingSince" is not null as failing
    from claimed c join webhook_endpoints e on e.id = c."endpointId" left join events v on v.seq = c."eventSeq"`
}

const byIds = claimSql('d.id = any($2::uuid[])')
const byEndpoint = claimSql('d."endpointId" = $2 and d.id in (select id from due)').replace(
  'with picked',
  // The oldest that are due, found in the index before anything is locked.
  `with due as (
      select id from webhook_deliveries where "endpointId" = $2 and "nextAttemptAt" <= now()
        and ("leaseUntil" is null or "leaseUntil" <= now()) order by "nextAttemptAt" limit $3
    ), picked`,
)

/** Takes those of the deliveries that are due and nobody's, under a lease of `token`. */
export async function claimDeliveries(sql: Sql, token: string, ids: readonly string[]): Promise<ClaimedDelivery[]> {
  const { rows } = await sql.query<ClaimedDelivery>({ name: 'webhooks.claim', text: byIds, values: [token, ids] })
  return rows
}

/** Takes an endpoint's deliveries that have waited longest, `limit` at most. */
export async function claimWaiting(sql: Sql, token: string, endpointId: string, limit: number): Promise<ClaimedDelivery[]> {
  const { rows } = await sql.query<ClaimedDelivery>({
    name: 'webhooks.claim.waiting',
    text: byEndpoint,
    values: [token, endpointId, limit],
  })
  return rows
}

/** Says that the attempts are still being made. */
export async function renewLeases(sql: Sql, token: string, ids: readonly string[]): Promise<void> {
  await sql.query(
    `update webhook_deliveries set "leaseUntil" = clock_timestamp() + $3 * interval '1 millisecond'
     where id = any($1::uuid[]) and "leaseToken" = $2`,
    [ids, token, leaseMs],
  )
}
