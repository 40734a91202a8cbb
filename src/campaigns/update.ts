// Changes the name, the rate and the quiet hours of a campaign that has not ended.
import type { Context } from '../core/context.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { announceChange, subject } from '../events/live/follow.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { enqueueStep } from './campaign-job.ts'
import { saveChanges } from './campaigns.sql.ts'
import { tellCampaign } from './events.ts'
import type { UpdateCampaign } from './input.ts'
import { nextAtNewRate } from './pace.ts'
import { lockFor } from './service.ts'

/** Changes the given fields; messages that have not left follow the new values. @throws as {@link lockFor}. */
export async function updateCampaign(ctx: Context, id: string, changes: UpdateCampaign): Promise<Campaign> {
  return await write(ctx, async (tx) => {
    const campaign = await lockFor('change', ctx, tx, id)
    const { name = campaign.name, ratePerMinute = campaign.ratePerMinute, quietHours = campaign.quietHours } = changes
    // Undefined if it stays, null without a limit.
    const newRate = changes.ratePerMinute === null ? campaign.defaultRate : changes.ratePerMinute
    const nextAt = newRate === undefined ? campaign.nextAt : nextAtNewRate(campaign.nextAt, newRate, campaign.now)
    const changed = await saveChanges(tx, id, { name, ratePerMinute, quietHours, nextAt })
    // The next step looks at the new rate and hours; those of a paused campaign may concern messages that are queued.
    if (changed.status !== 'scheduled') await enqueueStep(ctx.app, tx, id, undefined, ctx.principal.ownerId)
    await tellCampaign(tx, id)
    await announceChange(tx, subject('campaign', id))
    return changed
  })
}
