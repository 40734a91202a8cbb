// Fails messages: sets the status, emits the event.
import type { Sql } from '../../core/database/database.ts'
import { emit } from '../../events/log/emit.ts'
import { optedOut } from '../../providers/outgoing.ts'
import { insertSuppressions } from '../../suppressions/suppressions.sql.ts'
import { messageEvent } from '../events.ts'
import { type FailedMessage, type Failing, storeFailures } from './fail.sql.ts'

/**
 * Fails messages that the provider has not accepted, in the transaction `tx`. Returns those that were still open; the caller gives their quota back
 * (`returnQuota`), in one step with that of others, because it locks the rows of all owners in one order.
 */
export async function failMessages(tx: Sql, failing: readonly Failing[]): Promise<FailedMessage[]> {
  if (failing.length === 0) return []
  const rows = await storeFailures(tx, failing)
  // The list is locked before the quota, as by an inbound keyword with a reply.
  await insertSuppressions(
    tx,
    rows.filter(({ error }) => error === optedOut).map(({ workspaceId, to }) => ({ workspaceId, phone: to })),
    'network',
  )
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'failed', row.now)),
  )
  return rows
}
