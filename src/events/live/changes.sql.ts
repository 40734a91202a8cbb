// SQL of notifications between processes (LISTEN and NOTIFY).
import type { Sql } from '../../core/database/database.ts'

/** The channel of notifications to one process, by the UUID that names it. */
export function channelOf(node: string): string {
  return `gateway_node_${node}`
}

/** Subscribes the session of a dedicated connection to new events, to changes, and to what others tell this process. */
export async function listenToChanges(sql: Sql, node: string): Promise<void> {
  await sql.query(`listen gateway_events; listen gateway_changes; listen "${channelOf(node)}"`)
}

/** Sends these payloads to one process, all or none of them. */
export async function notifyNode(sql: Sql, node: string, payloads: readonly string[]): Promise<void> {
  await sql.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [channelOf(node), payloads])
}

/** Notifies every process of changed subjects when the transaction commits. PostgreSQL sends equal ones of a transaction once. */
export async function notifyChanges(tx: Sql, subjects: readonly string[]): Promise<void> {
  await tx.query(`select pg_notify('gateway_changes', subject) from unnest($1::text[]) subject`, [subjects])
}
