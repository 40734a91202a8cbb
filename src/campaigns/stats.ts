// Statistics of campaigns, counted from the rows of recipients and messages in one statement. No stored counter can drift.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { load } from '../core/graph/load.ts'
import type { CampaignStatus } from '../generated/prisma/client.ts'
import { type Counters, progressPercent } from './policy.ts'
import { readStats, type StatsRow, type Timeline } from './stats.sql.ts'

export interface CampaignStats {
  campaignId: string
  status: CampaignStatus
  stats: Counters
  progressPercent: number
  timeline: Timeline
}

/** Statistics of a campaign as of one moment. @throws NOT_FOUND when the campaign is not in the workspace. */
export async function statsOf(ctx: Context, id: string): Promise<CampaignStats> {
  const stats = await load(ctx, 'statistics of campaigns', id, async (ids) => {
    const rows = new Map((await readStats(ctx.app.pool, ctx.principal.workspaceId, ids)).map((row) => [row.id, row]))
    return ids.map((one) => shape(rows.get(one)))
  })
  return stats ?? fail('NOT_FOUND', 'Campaign not found')
}

function shape(row: StatsRow | undefined): CampaignStats | null {
  if (!row) return null
  const { id, status, total, planned, queued, sent, delivered, read, failed, cancelled, ...timeline } = row
  const stats = { total, planned, queued, sent, delivered, read, failed, cancelled }
  return { campaignId: id, status, stats, progressPercent: progressPercent(stats), timeline }
}
