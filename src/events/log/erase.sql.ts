// SQL that takes the numbers and texts of erased messages out of the event log. The events stay, because the log has no gaps.
import type { Sql } from '../../core/database/database.ts'

/** A payload with the same fields in the same order, of which those about the other party are empty. */
const emptied = `(select json_object_agg(key, case when key in ('to', 'from', 'body') then to_json(''::text) else value end) from json_each(payload))`

/** Relies on the index on messageId. The outbox has only the events of the last moment. */
export async function eraseEvents(tx: Sql, messageIds: readonly string[]): Promise<void> {
  for (const table of ['outbox', 'events']) {
    await tx.query(`update ${table} set payload = ${emptied} where "messageId" = any($1::uuid[])`, [messageIds])
  }
}
