// The sliding window of the rate limiter: at most so many requests in any one second, of a key or of a person, over all processes.

/** How the caller stands in the window, as the RateLimit headers say it. */
export interface RateState {
  limit: number
  remaining: number
  /** Seconds. */
  reset: number
}

/** One row of {@link windowsSql} as a member of its group sees it. */
export interface Standing {
  /** How many of the group the window let through, and how full it is now. */
  granted: number
  used: number
  /** The member's place in the group, from 0: the window lets members through in the order they came in. */
  position: number
}

export function rateOf(limit: number, { granted, used, position }: Standing): RateState {
  const left = Math.max(0, limit - used + Math.max(0, granted - position - 1))
  return { limit, remaining: Math.min(left, limit), reset: 1 }
}

/** How finely hits are told apart, in ms: rounding up, so that no second ever holds too many; coarser where nobody could tell. */
export function stepMs(limit: number): number {
  return limit > 100 ? 100 : 10
}

/**
 * As SQL: the CTEs `clock` and `windows (id, granted, used)`. `wanted` is a query of `id` and `n`: who asks, and for how many
 * requests. `limit` and `step` are the numbers of the parameters with the limit and its {@link stepMs}.
 *
 * The window is exact for any second, not for calendar seconds: hits are kept for 1,000 ms and the step that they were rounded
 * by, added up by steps so that the array stays short whatever the limit. What is refused takes nothing. Rows are locked in
 * the order of their ids.
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
