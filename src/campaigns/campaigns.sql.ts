// SQL of campaigns: their lock, state and changes by the owner, and their recipients by thousands.
import type { Sql } from '../core/database/database.ts'
import type { Campaign } from '../generated/prisma/client.ts'

/** A campaign with the time of the transaction that has locked it. */
export type LockedByOwner = Campaign & { now: Date }

/** Locks a campaign of the workspace, so that no page is sent meanwhile; undefined if there is none. */
export async function lockCampaign(tx: Sql, workspaceId: string, id: string): Promise<LockedByOwner | undefined> {
  const text = 'select *, now() as now from campaigns where id = $1 and "workspaceId" = $2 for update'
  return (await tx.query<LockedByOwner>(text, [id, workspaceId])).rows[0]
}

/** Campaigns by their ids, in the order of the ids, without a lock. */
export async function readStates(
  sql: Sql,
  ids: readonly string[],
): Promise<(Pick<Campaign, 'id' | 'status' | 'error' | 'quietHours'> & { now: Date })[]> {
  const { rows } = await sql.query<Pick<Campaign, 'id' | 'status' | 'error' | 'quietHours'> & { now: Date }>({
    name: 'campaigns.states',
    text: 'select id, status, error, "quietHours", now() as now from campaigns where id = any($1::uuid[]) order by id',
    values: [ids],
  })
  return rows
}

export type Changeable = Pick<Campaign, 'name' | 'ratePerMinute' | 'quietHours' | 'nextAt'>

/** Stores what the owner may change, and returns the row. Relies on {@link lockCampaign}. */
export async function saveChanges(tx: Sql, id: string, changes: Changeable): Promise<Campaign> {
  const { name, ratePerMinute, quietHours, nextAt } = changes
  const { rows } = await tx.query<Campaign>(
    `update campaigns set name = $2, "ratePerMinute" = $3, "quietHours" = $4, "nextAt" = $5, "updatedAt" = now() where id = $1 returning *`,
    [id, name, ratePerMinute, quietHours && JSON.stringify(quietHours), nextAt],
  )
  return rows[0] as Campaign
}

export interface NewRecipient {
  to: string
  contactId: string | null
  body: string | null
  parameters?: readonly string[] | null
  reference: string | null
  /** With an error, the recipient has failed, or is cancelled if it is in the do-not-contact list. */
  error: string | null
}

/** Inserts recipients of a new campaign at the positions after `from`. */
export async function insertRecipients(
  tx: Sql,
  campaignId: string,
  from: number,
  recipients: readonly NewRecipient[],
): Promise<void> {
  await tx.query({
    name: 'campaigns.recipients',
    text: `insert into campaign_recipients ("campaignId", position, "to", "contactId", body, error, reference, parameters, status)
      select $1, $2::int + i, "to", contact, body, error, reference, parameters, case when error is null then 'planned' when error = 'RECIPIENT_SUPPRESSED' then 'cancelled' else 'failed' end::recipient_status
      from unnest($3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[], $8::jsonb[])
        with ordinality as u("to", contact, body, error, reference, parameters, i)`,
    values: [
      campaignId,
      from,
      recipients.map(({ to }) => to),
      recipients.map(({ contactId }) => contactId),
      recipients.map(({ body }) => body),
      recipients.map(({ error }) => error),
      recipients.map(({ reference }) => reference),
      recipients.map(({ parameters }) => (parameters ? JSON.stringify(parameters) : null)),
    ],
  })
}

/**
 * Plans the recipients of these messages again. Each keeps the id of its message, and so gets the same message later. Relies on
 * {@link lockCampaign}.
 */
export async function planAgain(tx: Sql, campaignId: string, messageIds: readonly string[]): Promise<void> {
  await tx.query(
    `update campaign_recipients set status = 'planned', "updatedAt" = now()
     where "campaignId" = $1 and status = 'enqueued' and "messageId" = any($2::uuid[])`,
    [campaignId, messageIds],
  )
}

/** Reads the fields of a campaign that its event has. */
export async function readHead(
  tx: Sql,
  id: string,
): Promise<Pick<Campaign, 'workspaceId' | 'instanceId' | 'status' | 'error'> | undefined> {
  const { rows } = await tx.query<Pick<Campaign, 'workspaceId' | 'instanceId' | 'status' | 'error'>>(
    'select "workspaceId", "instanceId", status, error from campaigns where id = $1',
    [id],
  )
  return rows[0]
}
