// Writes events to the outbox, in the transaction of the change that they report (transactional outbox).
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import type { NewEvent } from './define.ts'
import { insertOutbox } from './emit.sql.ts'

/** Inserts events in the caller's transaction, in order. Call `signals.emit('outbox')` after the commit to wake the relay. */
export async function emit(tx: Sql, events: readonly NewEvent[]): Promise<void> {
  if (events.length === 0) return
  const rows = events.map((event) => {
    const id = newId()
    const payload = { id, event: event.type, ...event.fields, timestamp: event.at.toISOString() }
    return { ...event, id, payload: JSON.stringify(payload) }
  })
  await insertOutbox(tx, rows)
}
