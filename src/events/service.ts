// Figures of the event log for operators.
import type { Sql } from '../core/database/database.ts'
import { type OutboxLag, readOutboxLag } from './log/lag.sql.ts'

export type { OutboxLag } from './log/lag.sql.ts'

/** Committed events that have no number yet. */
export async function outboxLag(sql: Sql): Promise<OutboxLag> {
  return await readOutboxLag(sql)
}
