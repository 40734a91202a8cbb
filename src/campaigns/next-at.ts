// Tells when the next message of a campaign leaves.
import type { Context } from '../core/context.ts'
import type { Campaign } from '../generated/prisma/client.ts'
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
