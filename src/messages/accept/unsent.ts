// Takes back or cancels the messages of a campaign that have not been sent.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { emit } from '../../events/log/emit.ts'
import { dropExpiries } from '../dispatch/dispatch-job.ts'
import { messageEvent } from '../events.ts'
import { cancelQueuedOf, deleteUnsent, lockUnsent } from './unsent.sql.ts'

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

/**
 * Cancels a campaign's queued messages, deletes those that the provider gave back, and returns the quota of both. Returns the ids of the
 * deleted ones.
 */
export async function cancelUnsent(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  await lockUnsent(tx, campaignId)
  const cancelled = await cancelQueuedOf(tx, campaignId)
  const deleted = await deleteUnsent(tx, campaignId)
  await returnQuota(tx, [...cancelled, ...deleted])
  await dropExpiries(app, tx, [...cancelled, ...deleted])
  const now = new Date()
  await emit(
    tx,
    cancelled.map((row) => messageEvent(row, 'cancelled', now)),
  )
  return deleted.map(({ id }) => id)
}
