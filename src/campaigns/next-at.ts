// Tells when the next message of a campaign leaves, and the last one.
import type { Context } from '../core/context.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import { lastDeparture } from './departures.ts'
import { quietHoursOf, quietUntil } from './quiet-hours.ts'
import { statsOf } from './stats.ts'

type Paced = Pick<Campaign, 'id' | 'status' | 'scheduledFor' | 'nextAt' | 'quietHours'>

/** Null if the campaign is paused or has ended, or if no recipient is planned. */
export async function nextAtOf(ctx: Context, { id, status, scheduledFor, nextAt, quietHours }: Paced): Promise<Date | null> {
  if (status !== 'scheduled' && status !== 'running') return null
  if ((await statsOf(ctx, id)).stats.planned === 0) return null
  const start = status === 'scheduled' ? scheduledFor : null
  const moment = new Date(Math.max(Date.now(), start?.getTime() ?? 0, nextAt?.getTime() ?? 0))
  return quietUntil(quietHoursOf(quietHours), moment) ?? moment
}

type Rated = Paced & Pick<Campaign, 'ratePerMinute' | 'defaultRate'>

/** Null as {@link nextAtOf}, and without a rate. */
export async function lastAtOf(ctx: Context, campaign: Rated): Promise<Date | null> {
  const start = await nextAtOf(ctx, campaign)
  if (!start) return null
  const schedule = { start, rate: campaign.ratePerMinute ?? campaign.defaultRate, quietHours: quietHoursOf(campaign.quietHours) }
  return lastDeparture(schedule, (await statsOf(ctx, campaign.id)).stats.planned)
}
