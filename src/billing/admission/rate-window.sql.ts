// SQL of the rate limiter: counts requests in sliding windows of one second, which every process shares.
import type { Sql } from '../../core/database/database.ts'
import type { ExpiredRows } from '../../core/jobs/prune.sql.ts'

/**
 * The CTEs `clock` and `windows (id, granted, used)`. `wanted` is a query of `id` and `n`: the callers and their numbers of requests.
 * `limit` and `step` are the numbers of the parameters that hold the limit and its {@link stepMs}.
 *
 * The window is exact for any second, not only for calendar seconds: requests are kept for 1,000 ms plus the step that they were rounded
 * by. They are summed per step, so that the array stays short whatever the limit. Rejected requests take nothing. Rows are locked in the
 * order of their ids.
 */
export function windowsSql(wanted: string, limit: number, step: number): string {
  return `clock as (
  select (ceil(extract(epoch from clock_timestamp()) * 1000 / $${step}::int) * $${step}::int)::bigint as ms
), windows as (
  insert into rate_windows as r ("keyId", at, counts, granted)
  select id, array[ms], array[n], n
  from (select id, least(n, $${limit}::int)::int as n from (${wanted}) asking) k, clock order by id
  on conflict ("keyId") do update set (at, counts, granted) = (
    select coalesce(array_agg(h.at), '{}'), coalesce(array_agg(h.n), '{}'), g.granted
    from (
      select greatest(0, least(excluded.granted, $${limit}::int - coalesce(sum(l.n), 0)))::int as granted
      from unnest(r.at, r.counts) as l(at, n) where l.at > excluded.at[1] - 1000 - $${step}::int
    ) g left join lateral (
      select l.at, sum(l.n)::int as n
      from (select * from unnest(r.at, r.counts) as l(at, n) union all select excluded.at[1], g.granted) l
      where l.at > excluded.at[1] - 1000 - $${step}::int and l.n > 0 group by l.at
    ) h on true
    group by g.granted
  )
  returning "keyId" as id, granted, (select coalesce(sum(c), 0)::int from unnest(counts) c) as used
)`
}

/** Counts one request for each of `ids`, at most `limit` per second for an id. Returns how many each id was granted. */
export async function takeFromWindows(
  sql: Sql,
  ids: readonly string[],
  limit: number,
  step: number,
): Promise<Map<string, number>> {
  const { rows } = await sql.query<{ id: string; granted: number }>({
    name: 'billing.take-from-windows',
    text: `with ${windowsSql('select id, count(*) as n from unnest($1::uuid[]) id group by id', 2, 3)} select id, granted from windows`,
    values: [ids, limit, step],
  })
  return new Map(rows.map(({ id, granted }) => [id, granted]))
}

/**
 * The windows of keys and people who made no request for an hour. No index: the others are few. Locked rows are skipped, because they are in
 * use, and because admission locks many in the order of their ids.
 */
export const expiredWindows: ExpiredRows = {
  table: 'rate_windows',
  where: 'not exists (select from unnest(at) t where t > (extract(epoch from now()) - 3600) * 1000)',
  skipLocked: true,
}
