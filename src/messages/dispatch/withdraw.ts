// Cancels messages of campaigns that must not leave any more, and returns their quota.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { Sql } from '../../core/database/database.ts'
import { announceChange, subject } from '../../events/live/follow.ts'
import { storeWithdrawn } from './withdraw.sql.ts'

/** The transaction `tx` holds the row locks of the messages. */
export async function withdrawMessages(tx: Sql, withdrawn: readonly { id: string; error: string }[]): Promise<void> {
  if (withdrawn.length === 0) return
  const rows = await storeWithdrawn(
    tx,
    withdrawn.map(({ id }) => id),
    withdrawn.map(({ error }) => error),
  )
  await returnQuota(
    tx,
    rows.flatMap(({ ownerId, period }) => (period ? [{ ownerId, period }] : [])),
  )
  const campaigns = new Set(rows.flatMap(({ campaignId }) => campaignId ?? []))
  for (const id of [...campaigns].sort()) await announceChange(tx, subject('campaign', id))
}
