// SQL of the demo account: its table lock.
import type { Sql } from '../core/database/database.ts'

/** Keeps every other transaction from adding users, until this one ends. */
export async function lockUsers(tx: Sql): Promise<void> {
  await tx.query('lock table users in exclusive mode')
}
