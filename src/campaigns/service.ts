// Operations on campaigns: pause, resume, cancel.
import type { Context } from '../core/context.ts'
import type { Db } from '../core/database/database.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { cancelUnsent } from '../messages/accept/unsent.ts'
import { safetyCache } from '../messages/safety/safety.ts'
import { enqueueStep } from './campaign-job.ts'
import { type LockedByOwner, lockCampaign, planAgain } from './campaigns.sql.ts'
import { tellCampaign } from './events.ts'
import { type CampaignAction, obstacle } from './policy.ts'
import { endPlanned, takeBackAndPlan } from './take-back.ts'

/**
 * Stops sending. Messages that are queued, or whose attempt was not accepted, become planned recipients again, and their quota is
 * returned. @throws NOT_FOUND when the campaign is not in the workspace; INVALID_STATE when it is neither scheduled nor running.
 */
export async function pauseCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'pause', async (tx) => {
    await takeBackAndPlan(ctx.app, tx, id)
    return { status: 'paused' }
  })
}

/**
 * Continues a paused campaign, or schedules it again if its start time is still ahead. @throws NOT_FOUND when the campaign is not
 * in the workspace; INVALID_STATE when it is not paused.
 */
export async function resumeCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'resume', async (tx, { scheduledFor, now }) => {
    const early = scheduledFor !== null && scheduledFor > now
    await enqueueStep(ctx.app, tx, id, early ? scheduledFor : undefined, ctx.principal.ownerId)
    return { status: early ? 'scheduled' : 'running' }
  })
}

/**
 * Ends the campaign. Messages that have not left are never sent, except those of an attempt in progress. @throws NOT_FOUND when
 * the campaign is not in the workspace; INVALID_STATE when it has ended already.
 */
export async function cancelCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'cancel', async (tx, { now }) => {
    const cancelled = { status: 'cancelled', error: null } as const
    // They may be very many. Other sends wait for the locks of the messages and of the quota, which come after them.
    await endPlanned(tx, id, cancelled)
    const givenBack = await cancelUnsent(ctx.app, tx, id)
    // A message that was attempted cannot become cancelled, but its recipient can.
    if (givenBack.length > 0) {
      await planAgain(tx, id, givenBack)
      await endPlanned(tx, id, cancelled)
    }
    return { status: 'cancelled', cancelledAt: now }
  })
}

/** Stores the changes that `work` returns, in the transaction that locks the campaign. */
async function change(
  ctx: Context,
  id: string,
  action: CampaignAction,
  work: (tx: Tx, campaign: LockedByOwner) => Promise<Pick<Campaign, 'status'> & { cancelledAt?: Date }>,
): Promise<Campaign> {
  const changed = await write(ctx, async (tx) => {
    const campaign = await lockFor(action, ctx, tx, id)
    const { now } = campaign
    const data = { ...(await work(tx, campaign)), error: null, lastActivityAt: now, updatedAt: now }
    const stored = await tx.db.campaign.update({ where: { id }, data })
    await tellCampaign(tx, id)
    await announceChange(tx, subject('campaign', id))
    return stored
  })
  safetyCache(ctx.app).forget(changed.instanceId)
  return changed
}

/**
 * Locks the campaign for an action, so that no page is sent meanwhile. @throws NOT_FOUND when the campaign is not in the workspace;
 * INVALID_STATE when its status does not allow the action.
 */
export async function lockFor(action: CampaignAction, { principal }: Context, tx: Tx, id: string): Promise<LockedByOwner> {
  const campaign = (await lockCampaign(tx, principal.workspaceId, id)) ?? fail('NOT_FOUND', 'Campaign not found')
  const fault = obstacle(action, campaign.status)
  return fault === null ? campaign : fail('INVALID_STATE', fault)
}

/** @throws NOT_FOUND when the workspace has no such campaign. */
export async function checkCampaign(db: Db, workspaceId: string, id: string): Promise<void> {
  if (!(await db.campaign.findFirst({ where: { id, workspaceId }, select: { id: true } })))
    fail('NOT_FOUND', 'Campaign not found')
}
