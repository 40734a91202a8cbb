// SQL on pg-boss' own table, for figures that it does not offer.
import type { Sql } from '../database/database.ts'

/** How many jobs of each queue are kept in the queue `deadQueue`. */
export async function countDeadIn(sql: Sql, deadQueue: string): Promise<{ queue: string; n: number }[]> {
  const { rows } = await sql.query<{ queue: string; n: number }>(
    'select source_name as queue, count(*)::int as n from pgboss.job where name = $1 and source_name is not null group by 1 order by 1',
    [deadQueue],
  )
  return rows
}

/** How many jobs of each queue are due, and for how many seconds the oldest has been. */
export async function dueJobs(sql: Sql): Promise<{ queue: string; n: number; lag: number }[]> {
  const { rows } = await sql.query<{ queue: string; n: number; lag: number }>(
    `select name as queue, count(*)::int as n, coalesce(extract(epoch from now() - min(start_after)), 0)::float8 as lag
     from pgboss.job where state < 'active' and start_after <= now() group by name`,
  )
  return rows
}

/** True if pg-boss has created its tables. */
export async function hasJobTables(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ found: string | null }>(`select to_regclass('pgboss.job')::text as found`)
  return rows[0]?.found != null
}
