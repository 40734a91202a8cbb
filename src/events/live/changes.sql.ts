// SQL of notifications between processes (LISTEN and NOTIFY).
import type { Sql } from '../../core/database/database.ts'

/** Subscribes the session of a dedicated connection to new events and to changes. */
export async function listenToChanges(sql: Sql): Promise<void> {
  await sql.query('listen gateway_events; listen gateway_changes')
}

/** Notifies every process of changed subjects when the transaction commits. PostgreSQL sends equal ones of a transaction once. */
export async function notifyChanges(tx: Sql, subjects: readonly string[]): Promise<void> {
  await tx.query(`select pg_notify('gateway_changes', subject) from unnest($1::text[]) subject`, [subjects])
}
