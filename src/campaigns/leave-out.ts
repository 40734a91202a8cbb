// Leaves deleted contacts out of campaigns whose messages to them have not left.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import { withdrawFrom } from '../messages/accept/enqueue.ts'
import { cancelEnqueued } from './campaigns.sql.ts'

/**
 * Withdraws what is queued to these contacts, in the transaction that deletes them. Recipients without a message are cancelled when their
 * turn comes. Returns what must be called last in the transaction.
 */
export async function leaveOut(app: App, tx: Sql, contactIds: readonly string[]): Promise<() => Promise<void>> {
  const { messages, giveBack } = await withdrawFrom(app, tx, contactIds)
  if (messages.length === 0) return async () => {}
  const campaignIds = messages.map(({ campaignId }) => campaignId)
  const messageIds = messages.map(({ id }) => id)
  await cancelEnqueued(tx, campaignIds, messageIds, 'CONTACT_DELETED')
  for (const id of new Set(campaignIds)) await announceChange(tx, subject('campaign', id))
  return giveBack
}
