// SQL of transactions that stay open for long. PostgreSQL removes no row that was deleted or replaced after the oldest one began.
import type { Sql } from './database.ts'

export interface OpenTransaction {
  /** Its session, or that it is a prepared one. */
  holder: string
  seconds: number
}

/**
 * The oldest transaction of this database that keeps dead rows; undefined if there is none. VACUUM is left out, because it keeps none, and so is
 * autovacuum, whose analyses are short. Without the role pg_read_all_stats, PostgreSQL shows a user only its own sessions and prepared
 * transactions. It does not tell since when a standby with hot_standby_feedback has kept rows.
 */
export async function readOldestTransaction(sql: Sql): Promise<OpenTransaction | undefined> {
  const { rows } = await sql.query<OpenTransaction>(
    `select holder, greatest(0, extract(epoch from clock_timestamp() - since))::float8 as seconds from (
       select xact_start as since, format('%s (process %s)', coalesce(nullif(application_name, ''), usename, 'a session'), pid) as holder
       from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and xact_start is not null
         and (backend_xmin is not null or backend_xid is not null) and pid not in (select pid from pg_stat_progress_vacuum) and backend_type <> 'autovacuum worker'
       union all
       select prepared, format('the prepared transaction %s', gid) from pg_prepared_xacts where database = current_database()
     ) t order by since limit 1`,
  )
  return rows[0]
}
