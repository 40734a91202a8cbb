// SQL of the statistics that PostgreSQL plans with.
import type { Sql } from './database.ts'

/** Statements that analyze each table of at least `rows` rows that was never analyzed, or has more than doubled since, unless it is locked. */
export async function readUnanalyzed(sql: Sql, rows: number): Promise<string[]> {
  const found = await sql.query<{ statement: string }>(
    `select format('analyze (skip_locked) %I.%I', s.schemaname, s.relname) as statement from pg_stat_user_tables s join pg_class c on c.oid = s.relid
     where s.schemaname = current_schema() and s.n_live_tup >= $1 and (s.n_live_tup > 2 * c.reltuples
       or s.last_analyze is null and s.last_autoanalyze is null)`,
    [rows],
  )
  return found.rows.map(({ statement }) => statement)
}
