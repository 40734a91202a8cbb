// The last check of messages before they leave, of everything that may have changed since they were accepted: for a whole claim at a time,
// under the row locks of its messages.
import type { Sql } from '../../core/database/database.ts'
import { suppressed } from '../../suppressions/service.ts'
import { readSuppressed } from '../../suppressions/suppressions.sql.ts'
import type { OpenRow } from './claim.sql.ts'

/** The messages that must not leave any more, with the error code of each. The others leave. */
export async function refusedToLeave(tx: Sql, rows: readonly OpenRow[]): Promise<Map<string, string>> {
  // The network may have a message from an earlier attempt. Only its own answer settles that one.
  const unsent = rows.filter(({ mayHaveLeft }) => !mayHaveLeft)
  const isSuppressed = await readSuppressed(
    tx,
    unsent.filter(({ ignoresSuppression }) => !ignoresSuppression).map(({ workspaceId, to }) => ({ workspaceId, phone: to })),
  )
  const refused = new Map<string, string>()
  for (const { id, workspaceId, to, subscribed, ignoresSuppression } of unsent) {
    if (!subscribed) refused.set(id, 'SUBSCRIPTION_INACTIVE')
    else if (!ignoresSuppression && isSuppressed(workspaceId, to)) refused.set(id, suppressed)
  }
  return refused
}

/** True if a message that must not leave for this reason is cancelled, because it belongs to a campaign. All others fail. */
export function isWithdrawn({ campaignId }: Pick<OpenRow, 'campaignId'>, error: string): boolean {
  return campaignId !== null && error === suppressed
}
