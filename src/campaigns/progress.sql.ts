// SQL of the progress of a campaign: counts for each part of its time, and the reasons of failures, in one statement each.
import type { Sql } from '../core/database/database.ts'

export interface Bucket {
  from: Date
  to: Date
  queued: number
  sent: number
  delivered: number
  read: number
  failed: number
  cancelled: number
}

/** A VALUES list lets PostgreSQL plan with the statistics of a single campaign, the usual case. */
export function campaignsSql(ids: readonly string[], before: number): string {
  return `(values ${ids.map((_, i) => `($${i + 1 + before}::uuid)`).join(', ')})`
}

/** The part, from 1, in which a moment lies: 0 before the first one, one more than the last after it. Null for null. In float8, a third of the cost of numeric. */
const partOf = (at: string) =>
  `width_bucket(date_part('epoch', ${at}), date_part('epoch', s.first), date_part('epoch', s.last), $1::int)`

/**
 * Counts what happened to the recipients of a campaign between its start and its end, or now, in `buckets` parts of equal length. A step that
 * the clock of a network puts outside of that time counts in the first or the last part. Messages whose steps lie in the same parts are counted
 * together first: 0.18 s for 100,000 messages, in place of 0.54 s. Relies on the index of messages by campaign and on the
 * primary key of recipients. A recipient whose message expired has only its last status left.
 */
export async function readProgress(sql: Sql, ids: readonly string[], buckets: number): Promise<Map<string, Bucket[]>> {
  const { rows } = await sql.query<Bucket & { id: string }>(
    `select p.id, b.* from ${campaignsSql(ids, 1)} as p(id) cross join lateral (
      with span as (
        select c.id, s.first, greatest(coalesce(c."completedAt", c."cancelledAt", now()), s.first + interval '1 millisecond' * $1) as last
        from campaigns c, lateral (select coalesce(c."processingStartedAt", c."createdAt") as first) s where c.id = p.id
      ), courses as (
        select ${partOf('m."createdAt"')} as queued, ${partOf('m."sentAt"')} as sent, ${partOf('m."deliveredAt"')} as delivered,
          ${partOf('m."readAt"')} as read, ${partOf('m."failedAt"')} as failed, ${partOf('m."cancelledAt"')} as cancelled, count(*)
        from messages m, span s where m."campaignId" = p.id group by 1, 2, 3, 4, 5, 6
      ), steps as (
        select e.status, e.n, c.count from courses c, lateral (values ('queued', c.queued), ('sent', c.sent), ('delivered', c.delivered),
          ('read', c.read), ('failed', c.failed), ('cancelled', c.cancelled)) as e(status, n)
        where e.n is not null
        union all
        select r.status::text, ${partOf('coalesce(r."updatedAt", s.first)')}, 1 from campaign_recipients r, span s
        where r."campaignId" = p.id and r.status not in ('planned', 'enqueued')
      ), counted as (
        select least($1::int, greatest(1, n)) as n, status, sum(count) as count from steps group by 1, 2
      )
      select s.first + (s.last - s.first) * (n - 1) / $1 as "from", s.first + (s.last - s.first) * n / $1 as "to",
        ${['queued', 'sent', 'delivered', 'read', 'failed', 'cancelled']
          .map((status) => `coalesce(sum(c.count) filter (where c.status = '${status}'), 0)::int as ${status}`)
          .join(', ')}
      from span s cross join generate_series(1, $1::int) n left join counted c using (n) group by s.first, s.last, n
    ) b order by b."from"`,
    [buckets, ...ids],
  )
  return Map.groupBy(rows, (row) => row.id)
}

export interface Failure {
  status: 'failed' | 'cancelled'
  error: string
  count: number
  detail: string | null
  messageId: string | null
}

/** Reasons of one campaign that are listed. Real campaigns have a few. */
export const mostFailures = 50

/**
 * Groups the recipients of a campaign that failed, or were cancelled for a reason, by that reason, the most frequent first. `detail` and
 * `messageId` are those of one of them. Relies on the indexes of recipients and messages by campaign and status.
 */
export async function readFailures(sql: Sql, ids: readonly string[]): Promise<Map<string, Failure[]>> {
  const { rows } = await sql.query<Failure & { campaignId: string }>(
    `select p.id as "campaignId", g.* from ${campaignsSql(ids, 0)} as p(id) cross join lateral (
      select status, error, count(*)::int as count, (array_agg(detail order by at desc) filter (where detail is not null))[1] as detail,
        (array_agg(id order by at desc) filter (where id is not null))[1] as "messageId"
      from (
        select m.status::text as status, m.error, m."errorDetail" as detail, m.id, m."updatedAt" as at from messages m
        where m."campaignId" = p.id and m.status in ('failed', 'cancelled') and m.error is not null
        union all
        select r.status::text, r.error, null, null, r."updatedAt" from campaign_recipients r
        where r."campaignId" = p.id and r.status in ('failed', 'cancelled') and r.error is not null
      ) f group by status, error order by count desc, error, status limit ${mostFailures}
    ) g order by g.count desc, g.error, g.status`,
    [...ids],
  )
  return Map.groupBy(rows, (row) => row.campaignId)
}
