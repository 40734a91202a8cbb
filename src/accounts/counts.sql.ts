// SQL of the counters. Each counts in one upsert, so that the lock of its row (primary key `digest`) makes concurrent calls exact.
import type { Sql } from '../core/database/database.ts'

/** At most `most` events within the last `minutes` minutes. */
export interface Bound {
  most: number
  minutes: number
}

/** Exponential backoff: `free` events within `minutes` are not delayed. Each further one waits twice as long after the last one. */
export interface Delay {
  free: number
  minutes: number
  /** The first delay. It doubles up to at most `minutes`. */
  firstSeconds: number
}

function boundValues(digest: Buffer, bounds: readonly Bound[]): unknown[] {
  return [digest, bounds.map(({ minutes }) => minutes), bounds.map(({ most }) => most)]
}

/** Adds an event unless a bound is reached. Returns its timestamp. */
export async function addWithin(sql: Sql, digest: Buffer, bounds: readonly Bound[]): Promise<Date | undefined> {
  const { rows } = await sql.query<{ at: Date }>(
    `insert into email_counts as c (digest, at) values ($1, array[now()])
      on conflict (digest) do update set "updatedAt" = now(), at = (
          select coalesce(array_agg(t order by t), '{}') from unnest(c.at) t
          where t > now() - make_interval(mins => (select max(m) from unnest($2::int[]) m))
        ) || now()
      where not exists (
        select from unnest($2::int[], $3::int[]) as bound(minutes, most)
        where (select count(*) from unnest(c.at) t where t > now() - make_interval(mins => minutes)) >= most)
      returning at[cardinality(at)] as at`,
    boundValues(digest, bounds),
  )
  return rows[0]?.at
}

/** Seconds until every bound admits an event again: a bound does when its `most`-th newest event leaves the window. */
export async function secondsOfBounds(sql: Sql, digest: Buffer, bounds: readonly Bound[]): Promise<number> {
  const { rows } = await sql.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from max((
        select t from unnest(c.at) t order by t desc offset most - 1 limit 1
      ) + make_interval(mins => minutes)) - now()))::int as seconds
      from email_counts c, unnest($2::int[], $3::int[]) as bound(minutes, most) where c.digest = $1`,
    boundValues(digest, bounds),
  )
  return rows[0]?.seconds ?? 0
}

/** SQL: the time from which the next event may be counted, from the timestamps in `c.at`; no row if it may be counted at once. */
const delayed = `select max(t) + least($3::int * 60, $4::int * 2 ^ least(count(*) - $2::int, 20)) * interval '1 second' as until
  from unnest(c.at) t where t > now() - make_interval(mins => $3::int) having count(*) >= $2::int`

/** Adds an event unless its delay is still running. Returns its timestamp. */
export async function addDelayed(sql: Sql, digest: Buffer, { free, minutes, firstSeconds }: Delay): Promise<Date | undefined> {
  const { rows } = await sql.query<{ at: Date }>(
    `insert into email_counts as c (digest, at) values ($1, array[now()])
      on conflict (digest) do update set "updatedAt" = now(), at = (
          select coalesce(array_agg(t order by t), '{}') from unnest(c.at) t where t > now() - make_interval(mins => $3::int)
        ) || now()
      where not exists (select from (${delayed}) wait where until > now())
      returning at[cardinality(at)] as at`,
    [digest, free, minutes, firstSeconds],
  )
  return rows[0]?.at
}

/** Seconds until the delay of a counter is over. */
export async function secondsOfDelay(sql: Sql, digest: Buffer, { free, minutes, firstSeconds }: Delay): Promise<number> {
  const { rows } = await sql.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from (${delayed}) - now()))::int as seconds from email_counts c where c.digest = $1`,
    [digest, free, minutes, firstSeconds],
  )
  return rows[0]?.seconds ?? 0
}

/** Removes the event that was counted at `at`. Does nothing if it is already gone. */
export async function uncount(sql: Sql, digest: Buffer, at: Date): Promise<void> {
  // Usually this event is the only one. Deleting the row then leaves no empty row behind.
  const { rowCount } = await sql.query('delete from email_counts where digest = $1 and at = array[$2::timestamptz(3)]', [
    digest,
    at,
  ])
  if (rowCount) return
  await sql.query(
    `update email_counts c set at = at[:place - 1] || at[place + 1:] from (
        select digest, array_position(at, $2::timestamptz(3)) as place from email_counts where digest = $1 for update
      ) found where c.digest = found.digest and place is not null`,
    [digest, at],
  )
}

/** Deletes the counters from `first` to `last`, by a range scan of the primary key. */
export async function deleteCounts(sql: Sql, first: Buffer, last: Buffer): Promise<void> {
  await sql.query('delete from email_counts where digest between $1 and $2', [first, last])
}
