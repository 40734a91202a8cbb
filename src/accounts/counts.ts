// How often something happened to an e-mail address or from a network lately, counted over all processes.
import { createHash } from 'node:crypto'
import type pg from 'pg'
import type { Sql } from '../core/database/database.ts'

/** At most so many within so many minutes. */
export interface Bound {
  most: number
  minutes: number
}

/** When it was counted; or that it was not, and the seconds until the next may be. */
export type Counted = { at: Date } | { at: null; waitSeconds: number }

/**
 * The digest, 32 bytes, under which something is counted. The half that is made of `subject` alone comes first, so that
 * {@link forgetCounts} finds all counts of a subject by the primary key.
 */
export function countDigest(subject: string, part = ''): Buffer {
  return Buffer.concat([halfDigest(subject), halfDigest(part)])
}

function halfDigest(text: string): Buffer {
  return createHash('sha256').update(text).digest().subarray(0, 16)
}

/** Counts one more under that digest where every bound has room for it, exactly also for many at once. */
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
  // A bound has room again when as many are over as to leave one less than it.
  const { rows } = await sql.query<{ seconds: number | null }>(
    `select ceil(extract(epoch from max((
        select t from unnest(c.at) t order by t desc offset most - 1 limit 1
      ) + make_interval(mins => minutes)) - now()))::int as seconds
      from email_counts c, unnest($2::int[], $3::int[]) as bound(minutes, most) where c.digest = $1`,
    values,
  )
  return { at: null, waitSeconds: Math.max(1, rows[0]?.seconds ?? 1) }
}

/** Exponential delay: so many within so many minutes are free, and each further one waits twice as long after the last. */
export interface Delay {
  free: number
  minutes: number
  /** The first wait; none is longer than `minutes`. */
  firstSeconds: number
}

/** The moment from which the next one may be counted, as SQL over the moments of the window in `t`; null where it may at once. */
const delayed = `select max(t) + least($3::int * 60, $4::int * 2 ^ least(count(*) - $2::int, 20)) * interval '1 second' as until
  from unnest(c.at) t where t > now() - make_interval(mins => $3::int) having count(*) >= $2::int`

/** Counts one more under that digest where its wait is over, exactly also for many at once. */
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

/** Takes back what was counted at that moment; nothing where it was forgotten meanwhile. */
export async function uncount(sql: Sql, digest: Buffer, at: Date): Promise<void> {
  // Nothing else is counted there, usually: an empty row would only be in the way of others.
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

/** Forgets all counts of a subject; with `part` that one alone. */
export async function forgetCounts(sql: Sql, subject: string, part?: string): Promise<void> {
  const [first, last] = part === undefined ? [Buffer.alloc(16), Buffer.alloc(16, 0xff)] : [halfDigest(part), halfDigest(part)]
  await sql.query('delete from email_counts where digest between $1 and $2', [
    Buffer.concat([halfDigest(subject), first]),
    Buffer.concat([halfDigest(subject), last]),
  ])
}

/** Forgets what is too old to count, whatever was counted. */
export async function pruneCounts(pool: pg.Pool): Promise<void> {
  await pool.query(`delete from email_counts where "updatedAt" < now() - interval '1 day'`)
}
