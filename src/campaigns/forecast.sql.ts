// SQL of what campaigns are going to send through instances.
import type { Sql } from '../core/database/database.ts'
import type { Standing } from '../instances/safety.ts'

/** Most campaigns of an instance that are looked at, the first to begin. */
const mostCampaigns = 50

export interface PlannedRow extends Standing {
  instanceId: string
  provider: string
  planned: number
  scheduledFor: Date | null
  nextAt: Date | null
  ratePerMinute: number | null
  quietHours: unknown
}

/** The campaigns of the instances that have recipients to come, without paused ones. Counting them is an index-only scan of at most 100,000 for each. */
export async function readForecast(sql: Sql, instanceIds: readonly string[]): Promise<PlannedRow[]> {
  const { rows } = await sql.query<PlannedRow>({
    name: 'campaigns.forecast',
    text: `select i.id as "instanceId", i.provider::text as provider, i."firstConnectedAt", i."restrictedAt", i."atRiskAt", i."dailyRecipients",
        c.planned, c."scheduledFor", c."nextAt", c."ratePerMinute", c."quietHours"
      from instances i, lateral (
        select o.*, (select count(*)::int from campaign_recipients r where r."campaignId" = o.id and r.status = 'planned') as planned
        from (
          select id, "scheduledFor", "nextAt", "ratePerMinute", "quietHours" from campaigns
          where "workspaceId" = i."workspaceId" and "instanceId" = i.id and status in ('scheduled', 'running')
          order by coalesce("scheduledFor", "createdAt"), id limit ${mostCampaigns}
        ) o
      ) c where i.id = any($1::uuid[]) and c.planned > 0`,
    values: [instanceIds],
  })
  return rows
}
