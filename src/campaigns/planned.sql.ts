// SQL of planned recipients: ends them, with the text that they would have got.
import type { Sql } from '../core/database/database.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import type { EventfulMessage } from '../messages/events.ts'

export interface PlannedEnd {
  status: 'cancelled' | 'failed'
  error: string | null
}

/**
 * Ends planned recipients: those at `positions`, or all. Returns the messages that were taken back from them. Relies on the row lock of the
 * campaign and on the index (campaignId, status, position). The update does not join what was read: while the statistics do not know a
 * campaign, it seems to have one recipient, and the join would compare all of them with each other (100,000: more than 10 s).
 */
export async function setEnded(
  tx: Sql,
  id: string,
  { status, error }: PlannedEnd,
  positions: readonly number[] | null,
): Promise<EventfulMessage[]> {
  const which = `"campaignId" = $1 and status = 'planned' and ($4::int[] is null or position = any($4::int[]))`
  const { rows } = await tx.query<EventfulMessage>(
    `with known as (
       select position, "messageId" as id, "to", reference from campaign_recipients where ${which} and "messageId" is not null
     ), ended as (
       update campaign_recipients set status = $2::recipient_status, error = $3, "messageId" = null, body = null, parameters = null,
         "updatedAt" = now()
       where ${which}
     ) select k.id, c."workspaceId", c."instanceId", c.id as "campaignId", null as "providerMessageId", k."to", k.reference
     from known k join campaigns c on c.id = $1 order by k.position`,
    [id, status, error, positions],
  )
  return rows
}

/**
 * Locks the campaigns that have planned recipients with this number, so that none of them is about to send, and returns them. Only
 * campaigns that have not ended have planned recipients. Relies on the index (campaignId, status, position).
 */
export async function lockPlannedTo(tx: Sql, workspaceId: string, phone: string): Promise<Pick<Campaign, 'id' | 'status'>[]> {
  const { rows } = await tx.query<Pick<Campaign, 'id' | 'status'>>(
    `select c.id, c.status from campaigns c where "workspaceId" = $1 and status in ('scheduled', 'running', 'paused') and exists (
       select from campaign_recipients r where r."campaignId" = c.id and r.status = 'planned' and r."to" = $2
     ) order by id for no key update`,
    [workspaceId, phone],
  )
  return rows
}

/** Stores that locked campaigns changed now. Their statistics are counted again only after a change of the row. */
export async function touchCampaigns(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query('update campaigns set "lastActivityAt" = now(), "updatedAt" = now() where id = any($1::uuid[])', [ids])
}

/** Cancels the planned recipients with this number in locked campaigns, and erases their text. Returns the messages that were taken back from them. */
export async function erasePlannedTo(tx: Sql, campaignIds: readonly string[], phone: string): Promise<string[]> {
  const { rows } = await tx.query<{ id: string | null }>(
    `with planned as (
       select "campaignId", position, "messageId" as id from campaign_recipients
       where "campaignId" = any($1::uuid[]) and status = 'planned' and "to" = $2
     ) update campaign_recipients r set status = 'cancelled', error = 'CONTACT_DELETED', "messageId" = null, body = null, parameters = null,
       "updatedAt" = now()
     from planned p where r."campaignId" = p."campaignId" and r.position = p.position returning p.id`,
    [campaignIds, phone],
  )
  return rows.flatMap(({ id }) => id ?? [])
}
