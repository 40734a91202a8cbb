// Takes back the messages of a campaign that have not left, and ends recipients that have no message.
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import { emit } from '../events/log/emit.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { takeBack } from '../messages/accept/unsent.ts'
import { messageEvent } from '../messages/events.ts'
import { enqueueStep } from './campaign-job.ts'
import { planAgain } from './campaigns.sql.ts'
import { erasePlannedTo, lockPlannedTo, type PlannedEnd, setEnded, touchCampaigns } from './planned.sql.ts'

/** Deletes the messages that have not left, and plans their recipients again. Returns how many. Relies on the campaign's row lock. */
export async function takeBackAndPlan(app: App, tx: Sql, id: string): Promise<number> {
  const messageIds = await takeBack(app, tx, id)
  await planAgain(tx, id, messageIds)
  return messageIds.length
}

/**
 * Takes back the messages of a stopped campaign that the network gave back after the stop. Returns how many. Relies on the campaign's row
 * lock.
 */
export async function takeBackLate(app: App, tx: Sql, { id, status }: Pick<Campaign, 'id' | 'status'>): Promise<number> {
  const takenBack = await takeBackAndPlan(app, tx, id)
  if (takenBack === 0) return 0
  if (status === 'cancelled') await endPlanned(tx, id, { status, error: null })
  await touchCampaigns(tx, [id])
  await announceChange(tx, subject('campaign', id))
  return takenBack
}

/**
 * Ends planned recipients: those at `positions`, or all. An event ends each message that was queued and taken back, because receivers of
 * events know it. Relies on the campaign's row lock.
 */
export async function endPlanned(
  tx: Sql,
  id: string,
  { status, error }: PlannedEnd,
  positions: readonly number[] | null = null,
): Promise<void> {
  const known = await setEnded(tx, id, { status, error }, positions)
  const now = new Date()
  await emit(
    tx,
    known.map((message) => messageEvent({ ...message, error }, status, now)),
  )
}

/** Implements `Hooks.eraseRecipients`. */
export async function eraseRecipients(app: App, tx: Sql, workspaceId: string, phone: string): Promise<string[]> {
  const campaigns = await lockPlannedTo(tx, workspaceId, phone)
  if (campaigns.length === 0) return []
  const ids = campaigns.map(({ id }) => id)
  const messageIds = await erasePlannedTo(tx, ids, phone)
  await touchCampaigns(tx, ids)
  for (const { id, status } of campaigns) {
    await announceChange(tx, subject('campaign', id))
    // Without its last planned recipients, even a paused campaign completes. A scheduled one has a job at its start.
    if (status !== 'scheduled') await enqueueStep(app, tx, id)
  }
  return messageIds
}
