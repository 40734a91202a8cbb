// Sliding-window rate limiter: bounds the requests of a key or a person in any one second, across all processes.

/** The state of the caller's rate window, as in the RateLimit headers. */
export interface RateState {
  limit: number
  remaining: number
  /** Seconds. */
  reset: number
}

/** A row of {@link windowsSql} from the view of one request of its group. */
export interface Standing {
  /** How many requests of the group the rate window let through, and how full it is. */
  granted: number
  used: number
  /** The position of the request in its group, from 0. The rate window lets requests through in the order of their arrival. */
  position: number
}

export function rateOf(limit: number, { granted, used, position }: Standing): RateState {
  const left = Math.max(0, limit - used + Math.max(0, granted - position - 1))
  return { limit, remaining: Math.min(left, limit), reset: 1 }
}

/**
 * Returns the time resolution of the window in ms. Times are rounded up, so that no second ever contains too many requests. The step is
 * coarser for high limits, because nobody notices it there.
 */
export function stepMs(limit: number): number {
  return limit > 100 ? 100 : 10
}

/**
 * SQL: the CTEs `clock` and `windows (id, granted, used)`. `wanted` is a query of `id` and `n`: the callers and their numbers of requests.
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
