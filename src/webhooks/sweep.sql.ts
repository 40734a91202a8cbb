// SQL of the sweep: finds deliveries that no job reports, mainly after a crash, and ends those that must not be attempted.
import type { Sql } from '../core/database/database.ts'
import { unindexed } from '../core/database/unindexed.ts'
import { endedAtOnce } from './settle.sql.ts'

/** Deliveries that are late by this much are taken to have no job. */
const overdueMs = 500

/** The leases of an endpoint's attempts are those of its oldest deliveries; more than this many are not examined. */
const examinedLeases = 32

interface Sweep {
  /** Endpoints with deliveries that are overdue, or that will not be attempted because the endpoint is disabled or deleted. */
  endpointIds: string[]
  /** Time in ms until the first lease of an attempt in progress ends; null if there is none. */
  leaseEndsInMs: number | null
}

/**
 * Walks the index from endpoint to endpoint (loose index scan), so that the number of deliveries does not matter. Only where the first one is
 * due, others are read: none but a due one is leased. With 18,000 endpoints whose attempts are all later, that reads a seventh of the pages.
 * Endpoints are looked up one by one, not by a set of all that are disabled or deleted, which may be millions.
 */
export async function findOverdue(sql: Sql): Promise<Sweep> {
  const { rows } = await sql.query<Sweep>({
    name: 'webhooks.overdue',
    text: `with recursive endpoint as (
        (select "endpointId" as id, "nextAttemptAt" as "firstAt" from webhook_deliveries where "nextAttemptAt" is not null
          order by "endpointId", "nextAttemptAt" limit 1)
        union all
        select next.* from endpoint cross join lateral (
          select d."endpointId", d."nextAttemptAt" from webhook_deliveries d where d."nextAttemptAt" is not null and d."endpointId" > endpoint.id
          order by d."endpointId", d."nextAttemptAt" limit 1
        ) next
      )
      select coalesce(array_agg(id) filter (where "firstAt" <= now() - $1 * interval '1 millisecond' and exists (
          select from webhook_deliveries d where d."endpointId" = endpoint.id
            and d."nextAttemptAt" <= now() - $1 * interval '1 millisecond' and (d."leaseUntil" is null or d."leaseUntil" <= now())
        ) or (
          select e."deletedAt" is not null or e."disabledAt" is not null from webhook_endpoints e where e.id = endpoint.id
        )), '{}') as "endpointIds",
        (extract(epoch from min(lease.until) - now()) * 1000)::float8 as "leaseEndsInMs"
      from endpoint left join lateral (
        select min("leaseUntil") filter (where "leaseUntil" > now()) as until from (
          select "leaseUntil" from webhook_deliveries where "endpointId" = endpoint.id and "nextAttemptAt" is not null
            and "firstAt" <= now() order by "nextAttemptAt" limit $2
        ) oldest
      ) lease on true`,
    values: [overdueMs, examinedLeases],
  })
  return rows[0] as Sweep
}

/**
 * Ends deliveries that must not be attempted: their process died in the last attempt, or their endpoint is disabled or deleted. It
 * examines those of each endpoint that have waited longest, so that no backlog slows it down. The next sweep continues.
 */
export async function closeStranded(sql: Sql, endpointIds: readonly string[]): Promise<void> {
  await sql.query(
    `with stranded as (
       select d.id, d."byHand", case when e."deletedAt" is not null then 'endpoint_deleted' when e."disabledAt" is not null then 'endpoint_disabled'
         else 'interrupted' end as error
       from webhook_endpoints e cross join lateral (
         select id, "attemptsLeft", "byHand", "nextAttemptAt" from webhook_deliveries where "endpointId" = e.id
           and "nextAttemptAt" is not null and ("leaseUntil" is null or "leaseUntil" <= now()) order by "nextAttemptAt" limit $2
       ) d
       where e.id = any($1::uuid[]) and (e."deletedAt" is not null or e."disabledAt" is not null
         or (d."nextAttemptAt" <= now() and d."attemptsLeft" = 0 and not d."byHand"))
       limit $2
     )
     update webhook_deliveries d set status = 'failed', "attemptsLeft" = 0, "byHand" = false, "nextAttemptAt" = null,
       "leaseToken" = null, "leaseUntil" = null, error = stranded.error
     from stranded where d.id = stranded.id and d."byHand" = stranded."byHand" and ${unindexed('d."nextAttemptAt" is not null')}
       and (d."leaseUntil" is null or d."leaseUntil" <= now())`,
    [endpointIds, endedAtOnce],
  )
}
