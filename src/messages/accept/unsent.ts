// Takes back or cancels the messages of a campaign that have not been sent.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { emit } from '../../events/log/emit.ts'
import { dropExpiries } from '../dispatch/dispatch-job.ts'
import { messageEvent } from '../events.ts'
import { cancelQueuedOf, deleteUnsent } from './unsent.sql.ts'

/**
 * Deletes a campaign's messages that have not been sent (queued, or given back by the provider) and returns their quota. Returns their ids.
 * The dispatch jobs of deleted messages find no row and do nothing.
 */
export async function takeBack(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  const rows = await deleteUnsent(tx, campaignId)
  await returnQuota(tx, rows)
  await dropExpiries(app, tx, rows)
  return rows.map(({ id }) => id)
}

/** Cancels a campaign's queued messages and returns their quota. */
export async function cancelQueued(app: App, tx: Sql, campaignId: string): Promise<void> {
  const rows = await cancelQueuedOf(tx, campaignId)
  await returnQuota(tx, rows)
  await dropExpiries(app, tx, rows)
  const now = new Date()
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'cancelled', now)),
  )
}
