// SQL of the statistics of campaigns: everything that is counted, as of one moment.
import type { Sql } from '../core/database/database.ts'
import type { CampaignStatus } from '../generated/prisma/client.ts'
import type { Counters } from './policy.ts'

export interface Timeline {
  scheduledFor: Date | null
  processingStartedAt: Date | null
  lastEnqueuedAt: Date | null
  completedAt: Date | null
  cancelledAt: Date | null
  lastActivityAt: Date | null
}

export interface StatsRow extends Counters, Timeline {
  id: string
  status: CampaignStatus
}

/** Counts each recipient once: those without a message by their own status (their message expired, or never was), the others by their message's. Both are index-only scans. */
export async function readStats(sql: Sql, workspaceId: string, ids: readonly string[]): Promise<StatsRow[]> {
  const { rows } = await sql.query<StatsRow>({
    name: 'campaigns.stats',
    text: `select c.id, c.status, c."recipientsCount" as total, r.planned, m.queued, r.sent + m.sent as sent,
        r.delivered + m.delivered as delivered, r.read + m.read as read,
        r.failed + m.failed as failed, r.cancelled + m.cancelled as cancelled, c."scheduledFor", c."processingStartedAt",
        c."lastEnqueuedAt", c."completedAt", c."cancelledAt", greatest(c."lastActivityAt", m."lastActivityAt") as "lastActivityAt"
      from campaigns c, lateral (
        select count(*) filter (where status = 'planned')::int as planned, count(*) filter (where status = 'failed')::int as failed,
          count(*) filter (where status = 'cancelled')::int as cancelled, count(*) filter (where status = 'sent')::int as sent,
          count(*) filter (where status = 'delivered')::int as delivered, count(*) filter (where status = 'read')::int as read
        from campaign_recipients where "campaignId" = c.id and status <> 'enqueued'
      ) r, lateral (
        select count(*) filter (where status in ('queued', 'sending'))::int as queued, count(*) filter (where status = 'sent')::int as sent,
          count(*) filter (where status = 'delivered')::int as delivered, count(*) filter (where status = 'read')::int as read,
          count(*) filter (where status = 'failed')::int as failed, count(*) filter (where status = 'cancelled')::int as cancelled,
          max("updatedAt") as "lastActivityAt"
        from messages where "campaignId" = c.id
      ) m where c.id = any($1::uuid[]) and c."workspaceId" = $2`,
    values: [ids, workspaceId],
  })
  return rows
}

/** The state of a campaign's counts, without counting. */
export interface Mark {
  id: string
  recipientsCount: number
  /** Differs after every change of the counts that began after the campaign came to rest. */
  mark: string
  /**
   * True if none of its messages waits or is on its way, and nothing has changed for two minutes, longer than any transaction lasts: one that
   * commits later has begun later, too, so its changes are the latest.
   */
  isAtRest: boolean
}

/**
 * Reads the marks of campaigns: the version of the row, which changes with its recipients, and the last change of a message in each status,
 * which is one look at the index of messages by campaign. Messages are deleted together with a change of the row, unless they are queued.
 */
export async function readMarks(sql: Sql, workspaceId: string, ids: readonly string[]): Promise<Mark[]> {
  const { rows } = await sql.query<Mark>({
    name: 'campaigns.marks',
    text: `select c.id, c."recipientsCount", concat_ws(' ', c.xmin, m.changes) as mark,
        not m.open and greatest(c."updatedAt", c."lastActivityAt", m.last) < now() - interval '2 minutes' as "isAtRest"
      from campaigns c, lateral (
        select string_agg(s.status || ' ' || l.at, ' ' order by s.status) as changes, max(l.at) as last,
          coalesce(bool_or(s.status in ('queued', 'sending')), false) as open
        from unnest(enum_range(null::message_status)) as s(status), lateral (
          select "updatedAt" as at from messages where "campaignId" = c.id and status = s.status order by "updatedAt" desc limit 1
        ) l
      ) m where c.id = any($1::uuid[]) and c."workspaceId" = $2`,
    values: [ids, workspaceId],
  })
  return rows
}
