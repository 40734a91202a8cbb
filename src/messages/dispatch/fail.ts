// Fails messages: sets the status, returns the quota, emits the event.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { Sql } from '../../core/database/database.ts'
import { emit } from '../../events/log/emit.ts'
import { optedOut } from '../../providers/outgoing.ts'
import { insertSuppressions } from '../../suppressions/suppressions.sql.ts'
import { messageEvent } from '../events.ts'
import { type Failing, storeFailures } from './fail.sql.ts'

/**
 * Fails messages that the provider has not accepted, in the transaction `tx`, and gives back the quota of those that the network certainly
 * does not have. Returns how many were still open.
 */
export async function failMessages(tx: Sql, failing: readonly Failing[]): Promise<number> {
  if (failing.length === 0) return 0
  const rows = await storeFailures(tx, failing)
  // The list is locked before the quota, as by an inbound keyword with a reply.
  await insertSuppressions(
    tx,
    rows.filter(({ error }) => error === optedOut).map(({ workspaceId, to }) => ({ workspaceId, phone: to })),
    'network',
  )
  await returnQuota(tx, rows)
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'failed', row.now)),
  )
  return rows.length
}
