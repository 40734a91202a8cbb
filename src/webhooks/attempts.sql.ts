// SQL of the log of attempts: the attempts of deliveries, and what they say about the health of endpoints.
import type { Sql } from '../core/database/database.ts'
import type { WebhookAttempt } from '../generated/prisma/client.ts'

/** The last `most` attempts of each delivery, in their order (primary key). */
export async function readAttempts(sql: Sql, deliveryIds: readonly string[], most: number): Promise<WebhookAttempt[]> {
  const { rows } = await sql.query<WebhookAttempt>(
    `select a.* from unnest($1::uuid[]) as d(id) cross join lateral (
       select * from webhook_attempts where "deliveryId" = d.id order by attempt desc limit $2
     ) a order by a."deliveryId", a.attempt`,
    [deliveryIds, most],
  )
  return rows
}

/** Takes out what receivers answered to deliveries of these messages (indexes on messageId and eventSeq): an answer may repeat them. */
export async function eraseAnswers(tx: Sql, messageIds: readonly string[]): Promise<void> {
  await tx.query(
    `update webhook_attempts set answer = null where answer is not null and "deliveryId" in (
       select d.id from events v join webhook_deliveries d on d."eventSeq" = v.seq where v."messageId" = any($1::uuid[])
     )`,
    [messageIds],
  )
}

export interface HealthBucket {
  at: Date
  attempts: number
  failed: number
  p95Ms: number | null
}

export interface LastFailure {
  deliveryId: string
  at: string
  responseCode: number | null
  error: string
}

export interface EndpointFigures extends Omit<HealthBucket, 'at'> {
  endpointId: string
  /** Begin of the window, or the time of the oldest attempt that was read if there are more. */
  from: Date
  lastFailure: LastFailure | null
  /** In order; those without attempts are left out. */
  buckets: HealthBucket[]
}

/**
 * Counts the attempts of each endpoint in the last `windowMs` by buckets of `bucketMs`, in one statement (index on endpoint and time). It
 * reads the latest `most` attempts of each.
 */
export async function readFigures(
  sql: Sql,
  endpointIds: readonly string[],
  { windowMs, bucketMs, most }: { windowMs: number; bucketMs: number; most: number },
): Promise<EndpointFigures[]> {
  const { rows } = await sql.query<EndpointFigures & { buckets: { at: string }[] | null }>(
    `with sample as materialized (
       select e.id as "endpointId", a.* from unnest($1::uuid[]) as e(id) cross join lateral (
         select at, "durationMs", "responseCode", error, "deliveryId" from webhook_attempts
         where "endpointId" = e.id and at > now() - $2 * interval '1 millisecond' order by at desc limit $4
       ) a
     ), counted as (
       select "endpointId", date_bin($3 * interval '1 millisecond', at, 'epoch') as bucket, count(*)::int as attempts,
         count(error)::int as failed, percentile_disc(0.95) within group (order by "durationMs") as p95, min(at) as oldest
       from sample group by grouping sets (("endpointId"), ("endpointId", 2))
     ), failures as (
       select distinct on ("endpointId") "endpointId", json_build_object('deliveryId', "deliveryId", 'at', at, 'responseCode',
         "responseCode", 'error', error) as last from sample where error is not null order by "endpointId", at desc
     )
     select t."endpointId", t.attempts, t.failed, t.p95 as "p95Ms", f.last as "lastFailure",
       case when t.attempts < $4 then now() - $2 * interval '1 millisecond' else t.oldest end as from,
       (select json_agg(json_build_object('at', b.bucket, 'attempts', b.attempts, 'failed', b.failed, 'p95Ms', b.p95) order by b.bucket)
        from counted b where b."endpointId" = t."endpointId" and b.bucket is not null) as buckets
     from counted t left join failures f using ("endpointId") where t.bucket is null`,
    [endpointIds, windowMs, bucketMs, most],
  )
  return rows.map((row) => ({ ...row, buckets: (row.buckets ?? []).map((bucket) => ({ ...bucket, at: new Date(bucket.at) })) }))
}
