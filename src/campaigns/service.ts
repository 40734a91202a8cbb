// Operations on campaigns: create, pause, resume, cancel.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { cancelQueued, takeBack } from '../messages/accept/enqueue.ts'
import { wake } from './campaign-job.ts'
import { type Deed, obstacle } from './policy.ts'

export { createCampaign } from './create.ts'

/**
 * Stops sending. Messages that are queued, or whose attempt was not accepted, become planned recipients again, and their quota is
 * returned. @throws NOT_FOUND when the campaign is not in the workspace; INVALID_STATE when it is neither scheduled nor running.
 */
export async function pauseCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'pause', async (tx) => {
    await planAgain(ctx, tx, id)
    return `status = 'paused', error = null`
  })
}

/** Deletes the messages that have not left, and sets their recipients back to planned. */
async function planAgain({ app }: Context, tx: Sql, id: string): Promise<void> {
  const messageIds = await takeBack(app, tx, id)
  await tx.query(
    `update campaign_recipients set status = 'planned', "messageId" = null
     where "campaignId" = $1 and status = 'enqueued' and "messageId" = any($2::uuid[])`,
    [id, messageIds],
  )
}

/**
 * Continues a paused campaign, or schedules it again if its start time is still ahead. @throws NOT_FOUND when the campaign is not
 * in the workspace; INVALID_STATE when it is not paused.
 */
export async function resumeCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'resume', async (tx, { scheduledFor, now }) => {
    const early = scheduledFor !== null && scheduledFor > now
    await wake(ctx.app, tx, id, early ? scheduledFor : undefined)
    return `status = '${early ? 'scheduled' : 'running'}', error = null`
  })
}

/**
 * Ends the campaign. Messages that have not left are never sent, except those of an attempt in progress. @throws NOT_FOUND when
 * the campaign is not in the workspace; INVALID_STATE when it has ended already.
 */
export async function cancelCampaign(ctx: Context, id: string): Promise<Campaign> {
  return await change(ctx, id, 'cancel', async (tx) => {
    await cancelQueued(tx, id)
    // A message that was attempted cannot become cancelled, but its recipient can.
    await planAgain(ctx, tx, id)
    await tx.query(`update campaign_recipients set status = 'cancelled' where "campaignId" = $1 and status = 'planned'`, [id])
    return `status = 'cancelled', "cancelledAt" = now(), error = null`
  })
}

/** Locks the campaign row, so that no page is sent meanwhile, and applies the assignments that `work` returns, in one transaction. */
async function change(
  ctx: Context,
  id: string,
  deed: Deed,
  work: (tx: Sql, campaign: Campaign & { now: Date }) => Promise<string>,
): Promise<Campaign> {
  return await write(ctx, async (tx) => {
    const { rows } = await tx.query<Campaign & { now: Date }>(
      'select *, now() as now from campaigns where id = $1 and "workspaceId" = $2 for update',
      [id, ctx.principal.workspaceId],
    )
    const campaign = rows[0] ?? fail('NOT_FOUND', 'Campaign not found')
    const fault = obstacle(deed, campaign.status)
    if (fault !== null) fail('INVALID_STATE', fault)
    const set = await work(tx, campaign)
    const changed = await tx.query<Campaign>(
      `update campaigns set ${set}, "lastActivityAt" = now(), "updatedAt" = now() where id = $1 returning *`,
      [id],
    )
    await announceChange(tx, subject('campaign', id))
    return changed.rows[0] as Campaign
  })
}
