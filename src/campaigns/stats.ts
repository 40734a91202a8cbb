// Statistics of campaigns, counted from the rows of recipients and messages in one statement. No stored counter can drift.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { load } from '../core/graph/load.ts'
import type { CampaignStatus } from '../generated/prisma/client.ts'
import { type Counters, progressPercent } from './policy.ts'

export interface Timeline {
  scheduledFor: Date | null
  processingStartedAt: Date | null
  lastEnqueuedAt: Date | null
  completedAt: Date | null
  cancelledAt: Date | null
  lastActivityAt: Date | null
}

export interface CampaignStats {
  campaignId: string
  status: CampaignStatus
  stats: Counters
  progressPercent: number
  timeline: Timeline
}

interface Row extends Counters, Timeline {
  id: string
  status: CampaignStatus
}

/** Statistics of a campaign as of one moment. @throws NOT_FOUND when the campaign is not in the workspace. */
export async function statsOf(ctx: Context, id: string): Promise<CampaignStats> {
  const stats = await load(ctx, 'statistics of campaigns', id, async (ids) => {
    const rows = new Map((await count(ctx, ids)).map((row) => [row.id, row]))
    return ids.map((one) => shape(rows.get(one)))
  })
  return stats ?? fail('NOT_FOUND', 'Campaign not found')
}

/** Counts each recipient once: those without a message by their own status, the others by their message's. Both are index-only scans. */
async function count({ app, principal }: Context, ids: readonly string[]): Promise<Row[]> {
  const { rows } = await app.pool.query<Row>({
    name: 'campaigns.stats',
    text: `select c.id, c.status, c."recipientsCount" as total, r.planned, m.queued, m.sent, m.delivered, m.read,
        r.failed + m.failed as failed, r.cancelled + m.cancelled as cancelled, c."scheduledFor", c."processingStartedAt",
        c."lastEnqueuedAt", c."completedAt", c."cancelledAt", greatest(c."lastActivityAt", m."lastActivityAt") as "lastActivityAt"
      from campaigns c, lateral (
        select count(*) filter (where status = 'planned')::int as planned, count(*) filter (where status = 'failed')::int as failed,
          count(*) filter (where status = 'cancelled')::int as cancelled
        from campaign_recipients where "campaignId" = c.id and status <> 'enqueued'
      ) r, lateral (
        select count(*) filter (where status in ('queued', 'sending'))::int as queued, count(*) filter (where status = 'sent')::int as sent,
          count(*) filter (where status = 'delivered')::int as delivered, count(*) filter (where status = 'read')::int as read,
          count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'cancelled')::int as cancelled,
          max("updatedAt") as "lastActivityAt"
        from messages where "campaignId" = c.id
      ) m where c.id = any($1::uuid[]) and c."workspaceId" = $2`,
    values: [ids, principal.workspaceId],
  })
  return rows
}

function shape(row: Row | undefined): CampaignStats | null {
  if (!row) return null
  const { id, status, total, planned, queued, sent, delivered, read, failed, cancelled, ...timeline } = row
  const stats = { total, planned, queued, sent, delivered, read, failed, cancelled }
  return { campaignId: id, status, stats, progressPercent: progressPercent(stats), timeline }
}
