// SQL of campaigns that lost their job.
import type { Sql } from '../core/database/database.ts'
import { advanceJob } from './campaign-job.ts'

/**
 * A paused campaign `c` completes without planned recipients. One that paused itself takes back what is queued when quiet hours begin. Each is a
 * scalar subquery with `limit 1`, which uses an index. For `exists` under `or`, the planner may scan the whole table.
 */
const hasMoreSteps = `(select 1 from campaign_recipients r where r."campaignId" = c.id and r.status = 'planned' limit 1) is null
  or c.error is not null and c."quietHours" is not null and (
    select 1 from messages m where m."campaignId" = c.id and m.status in ('queued', 'sending') and m."acceptedAt" is null limit 1
  ) is not null`

/** Campaigns that have something to do but no job. Relies on the indexes of recipients and messages by campaign and status. */
export async function readWithoutJob(sql: Sql): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select c.id from campaigns c
     where (c.status = 'running' or c.status = 'scheduled' and c."scheduledFor" <= now() or c.status = 'paused' and (${hasMoreSteps}))
       and not exists (select from pgboss.job j where j.name = $1 and j.state < 'completed' and j.singleton_key = c.id::text)`,
    [advanceJob.name],
  )
  return rows.map(({ id }) => id)
}
