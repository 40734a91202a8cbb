// SQL of the statistics that PostgreSQL plans with.
import type { Sql } from './database.ts'

/** The statements that analyze the tables with at least `rows` rows which nothing has analyzed yet. */
export async function readUnanalyzed(sql: Sql, rows: number): Promise<string[]> {
  const found = await sql.query<{ statement: string }>(
    `select format('analyze %I.%I', schemaname, relname) as statement from pg_stat_user_tables
     where schemaname = current_schema() and n_live_tup >= $1 and last_analyze is null and last_autoanalyze is null`,
    [rows],
  )
  return found.rows.map(({ statement }) => statement)
}
