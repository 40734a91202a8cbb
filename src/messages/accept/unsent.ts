// Takes back or cancels the messages of a campaign that have not been sent.
import { returnQuota } from '../../billing/admission/quota.ts'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { deleteJobs } from '../../core/jobs/jobs.ts'
import { emit } from '../../events/log/emit.ts'
import { campaignDispatchJob } from '../dispatch/dispatch-job.ts'
import { messageEvent } from '../events.ts'
import { cancelQueuedOf, deleteUnsent, type UnsentMessage } from './unsent.sql.ts'

/**
 * Deletes a campaign's messages that have not been sent (queued, or given back by the provider) and returns their quota. Returns their ids.
 * The dispatch jobs of deleted messages find no row and do nothing.
 */
export async function takeBack(app: App, tx: Sql, campaignId: string): Promise<string[]> {
  const rows = await deleteUnsent(tx, campaignId)
  await returnQuota(tx, rows)
  await dropJobs(app, tx, rows)
  return rows.map(({ id }) => id)
}

/** The jobs of waiting messages start only at the end of the time to live, which may be a day away, so they are deleted. */
async function dropJobs(app: App, tx: Sql, rows: readonly UnsentMessage[]): Promise<void> {
  const waiting = rows.flatMap(({ id, waiting }) => (waiting ? [id] : []))
  await deleteJobs(app, tx, campaignDispatchJob, waiting)
}

/** Cancels a campaign's queued messages and returns their quota. */
export async function cancelQueued(tx: Sql, campaignId: string): Promise<void> {
  const rows = await cancelQueuedOf(tx, campaignId)
  await returnQuota(tx, rows)
  const now = new Date()
  await emit(
    tx,
    rows.map((row) => messageEvent(row, 'cancelled', now)),
  )
}
