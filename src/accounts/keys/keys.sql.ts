// SQL of API keys: their row lock, and those that count against plans.
import type { Sql } from '../../core/database/database.ts'

/** Locks an active key (FOR SHARE), so that its revocation waits for the transaction. Returns false if there is no such key. */
export async function lockActiveKey(tx: Sql, id: string): Promise<boolean> {
  return (await tx.query('select from api_keys where id = $1 and "revokedAt" is null for share', [id])).rowCount === 1
}

/** See `LimitedKind.counted` (core/app.ts). */
export const countedKeys = 'select "workspaceId", "restingAt" is not null as resting from api_keys where "revokedAt" is null'
