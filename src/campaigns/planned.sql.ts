// SQL of planned recipients: ends them, and forgets the messages that they had.
import type { Sql } from '../core/database/database.ts'
import type { EventfulMessage } from '../messages/events.ts'

export interface PlannedEnd {
  status: 'cancelled' | 'failed'
  error: string | null
}

/**
 * Ends planned recipients: those at `positions`, or all. Returns the messages that were taken back from them. Relies on the row lock of the
 * campaign and on the index (campaignId, status, position).
 */
export async function setEnded(
  tx: Sql,
  id: string,
  { status, error }: PlannedEnd,
  positions: readonly number[] | null,
): Promise<EventfulMessage[]> {
  const { rows } = await tx.query<EventfulMessage>(
    `with planned as (
       select position, "messageId" as id, "to", reference from campaign_recipients
       where "campaignId" = $1 and status = 'planned' and ($4::int[] is null or position = any($4::int[]))
     ), ended as (
       update campaign_recipients r set status = $2::recipient_status, error = $3, "messageId" = null, "updatedAt" = now()
       from planned p where r."campaignId" = $1 and r.position = p.position
     ) select p.id, c."workspaceId", c."instanceId", c.id as "campaignId", null as "providerMessageId", p."to", p.reference
     from planned p join campaigns c on c.id = $1 where p.id is not null order by p.position`,
    [id, status, error, positions],
  )
  return rows
}

/**
 * Implements `Hooks.forgetTakenBack`. Only campaigns that have not ended have planned recipients. Relies on the index
 * (campaignId, status, position).
 */
export async function forgetTakenBack(tx: Sql, workspaceId: string, phone: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `with known as (
       select r."campaignId", r.position, r."messageId" as id from campaigns c join campaign_recipients r on r."campaignId" = c.id
       where c."workspaceId" = $1 and c.status in ('scheduled', 'running', 'paused') and r.status = 'planned' and r."to" = $2
         and r."messageId" is not null for update of r
     ) update campaign_recipients r set "messageId" = null from known k
     where r."campaignId" = k."campaignId" and r.position = k.position returning k.id`,
    [workspaceId, phone],
  )
  return rows.map(({ id }) => id)
}
