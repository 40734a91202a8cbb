// Sliding-window counters per e-mail address or network, kept in PostgreSQL and shared by all processes.
import { createHash } from 'node:crypto'
import type { Sql } from '../core/database/database.ts'
import type { ExpiredRows } from '../core/jobs/prune.sql.ts'

/** At most `most` events within the last `minutes` minutes. */
export interface Bound {
  most: number
  minutes: number
}

/** The timestamp of the counted event. If the event was rejected: null, and the seconds until the next one may be counted. */
export type Counted = { at: Date } | { at: null; waitSeconds: number }

/**
 * Returns the 32-byte key of a counter. The half derived from `subject` alone comes first, so that {@link forgetCounts} finds all counters
 * of a subject by a range scan of the primary key.
 */
export function countDigest(subject: string, part = ''): Buffer {
  return Buffer.concat([halfDigest(subject), halfDigest(part)])
}

function halfDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16)
}

/** Counts one event under `digest` unless a bound is reached. One atomic upsert, so concurrent calls never exceed a bound. */
export async function countOne(sql: Sql, digest: Buffer, bounds: readonly Bound[]): Promise<Counted> {
  const values = [digest, bounds.map(({ minutes }) => minutes), bounds.map(({ most }) => most)]
  const counted = await sql.query<{ at: Date }>(
    `insert into email_counts as c (digest, at) values ($1, array[now()])
      on conflict (digest) do update set "updatedAt" = now(), at = (
          select coalesce(array_agg(t order by t), '{}') from unnest(c.at) t
          where t > now() - make_interval(mins => (select max(m) from unnest($2::int[]) m))
        ) || now()
      where not exists (
        select from unnest($2::int[], $3::int[]) as bound(minutes, most)
        where (select count(*) from unnest(c.at) t where t > now() - make_interval(mins => minutes)) >= most)
      returning at[cardinality(at)] as at`,
    values,
  )
  if (counted.rows[0]) return counted.rows[0]
  // A bound admits an event again when its `most`-th newest event leaves the window.
  const { rows } = await sql.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from max((
        select t from unnest(c.at) t order by t desc offset most - 1 limit 1
      ) + make_interval(mins => minutes)) - now()))::int as seconds
      from email_counts c, unnest($2::int[], $3::int[]) as bound(minutes, most) where c.digest = $1`,
    values,
  )
  return { at: null, waitSeconds: Math.max(1, rows[0]?.seconds ?? 1) }
}

/** Exponential backoff: `free` events within `minutes` are not delayed. Each further one waits twice as long after the last one. */
export interface Delay {
  free: number
  minutes: number
  /** The first delay. It doubles up to at most `minutes`. */
  firstSeconds: number
}

/** SQL: the time from which the next event may be counted, from the timestamps in `c.at`; no row if it may be counted at once. */
const delayed = `select max(t) + least($3::int * 60, $4::int * 2 ^ least(count(*) - $2::int, 20)) * interval '1 second' as until
  from unnest(c.at) t where t > now() - make_interval(mins => $3::int) having count(*) >= $2::int`

/** Counts one event under `digest` unless its backoff delay is still running. One atomic upsert, so it is exact for concurrent calls. */
export async function countDelayed(sql: Sql, digest: Buffer, { free, minutes, firstSeconds }: Delay): Promise<Counted> {
  const values = [digest, free, minutes, firstSeconds]
  const counted = await sql.query<{ at: Date }>(
    `insert into email_counts as c (digest, at) values ($1, array[now()])
      on conflict (digest) do update set "updatedAt" = now(), at = (
          select coalesce(array_agg(t order by t), '{}') from unnest(c.at) t where t > now() - make_interval(mins => $3::int)
        ) || now()
      where not exists (select from (${delayed}) wait where until > now())
      returning at[cardinality(at)] as at`,
    values,
  )
  if (counted.rows[0]) return counted.rows[0]
  const { rows } = await sql.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from (${delayed}) - now()))::int as seconds from email_counts c where c.digest = $1`,
    values,
  )
  return { at: null, waitSeconds: Math.max(1, rows[0]?.seconds ?? 1) }
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

/** Deletes all counters of a subject, or only the counter of `part` if it is given. */
export async function forgetCounts(sql: Sql, subject: string, part?: string): Promise<void> {
  const [first, last] = part === undefined ? [Buffer.alloc(16), Buffer.alloc(16, 0xff)] : [halfDigest(part), halfDigest(part)]
  await sql.query('delete from email_counts where digest between $1 and $2', [
    Buffer.concat([halfDigest(subject), first]),
    Buffer.concat([halfDigest(subject), last]),
  ])
}

/** Counters that were not updated for a day. No window is longer than a day. */
export const expiredCounts: ExpiredRows = { table: 'email_counts', where: `"updatedAt" < now() - interval '1 day'` }
