// How often something happened to an e-mail address lately, counted over all processes.
import type pg from 'pg'
import type { Sql } from '../core/database.ts'

/** At most so many within so many minutes. */
export interface Bound {
  most: number
  minutes: number
}

/** When it was counted; or that it was not, and the seconds until the next may be. */
export type Counted = { at: Date } | { at: null; waitSeconds: number }

/** Counts one more under that digest where every bound has room for it. Many at once are no way round. */
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

/** Forgets what is too old to count, whatever was counted. */
export async function pruneCounts(pool: pg.Pool): Promise<void> {
  await pool.query(`delete from email_counts where "updatedAt" < now() - interval '1 day'`)
}
