// SQL of sending a campaign: its row lock, its next page of recipients, and what a step stores.
import { planInForceSql } from '../billing/plans.ts'
import type { Sql } from '../core/database/database.ts'
import type { Campaign } from '../generated/prisma/client.ts'
import type { ProviderName } from '../providers/provider.ts'

/**
 * Lets the transaction commit before it is on disk (asynchronous commit), because other sends of the owner wait for the quota's row lock
 * until the commit. A crash can lose the transaction as a whole, but not a part of it, and all that builds on it comes later in the WAL.
 */
export async function commitWithoutDisk(tx: Sql): Promise<void> {
  await tx.query('set local synchronous_commit = off')
}

export interface LockedCampaign extends Campaign {
  provider: ProviderName
  ownerId: string
  plan: string
  subscribed: boolean
  instanceDeleted: boolean
  now: Date
}

const planInForce = planInForceSql('s')

/**
 * Locks a campaign, so that nobody else pages or changes it, and reads what its next step depends on. Undefined if another transaction has it:
 * a cancellation of 100,000 recipients takes a second, in which the campaigns of others would wait for this worker.
 */
export async function lockForAdvance(tx: Sql, id: string): Promise<LockedCampaign | undefined> {
  const { rows } = await tx.query<LockedCampaign>({
    name: 'campaigns.lock',
    text: `select c.*, date_trunc('milliseconds', now()) as now, w."ownerId", s.status <> 'inactive' as subscribed,
        ${planInForce} as plan,
        i.provider, i."deletedAt" is not null as "instanceDeleted"
      from campaigns c
      join instances i on i.id = c."instanceId"
      join workspaces w on w.id = c."workspaceId"
      join subscriptions s on s."userId" = w."ownerId"
      where c.id = $1 for update of c skip locked`,
    values: [id],
  })
  return rows[0]
}

/** The account that pays for a campaign; undefined if there is no such campaign. */
export async function readPayer(tx: Sql, id: string): Promise<string | undefined> {
  const { rows } = await tx.query<{ ownerId: string }>({
    name: 'campaigns.payer',
    text: 'select w."ownerId" from campaigns c join workspaces w on w.id = c."workspaceId" where c.id = $1',
    values: [id],
  })
  return rows[0]?.ownerId
}

export interface Planned {
  position: number
  to: string
  body: string | null
  parameters: readonly string[] | null
  contactId: string | null
  reference: string | null
  /** The id of its message, if that was enqueued before and taken back; null if it never had one. */
  messageId: string | null
  /** True if the contact was deleted since the campaign was created. */
  contactDeleted: boolean
}

/**
 * Reads the recipients of the next page. The row lock on the campaign keeps others from changing them, and `for key share` keeps
 * their contacts until `tx` ends. The condition on `status` is a range, so that only the index (campaignId, status, position)
 * returns them in order: through the primary key, each page would read all rows before it again.
 */
export async function readPlanned(tx: Sql, id: string, pageSize: number): Promise<Planned[]> {
  const { rows } = await tx.query<Planned>({
    name: 'campaigns.planned',
    text: `select r.position, r."to", r.body, r.parameters, r.reference, r."messageId", c.id as "contactId", r."contactId" is not null and c.id is null as "contactDeleted"
      from (
        select * from campaign_recipients
        where "campaignId" = $1 and status between 'planned' and 'planned' order by status, position limit $2
      ) r left join lateral (select id from contacts where id = r."contactId" for key share) c on true order by r.position`,
    values: [id, pageSize],
  })
  return rows
}

/** Relies on the row lock of {@link lockForAdvance}. `positions` and `messageIds` belong together by their index. */
export async function markEnqueued(
  tx: Sql,
  id: string,
  positions: readonly number[],
  messageIds: readonly string[],
): Promise<void> {
  await tx.query({
    name: 'campaigns.enqueued',
    text: `update campaign_recipients r set status = 'enqueued', "messageId" = u.id
      from unnest($2::int[], $3::uuid[]) as u(position, id) where r."campaignId" = $1 and r.position = u.position`,
    values: [id, positions, messageIds],
  })
}

/** Stores when the next message may leave, and by which default rate. Relies on the row lock of {@link lockForAdvance}. */
export async function savePace(tx: Sql, id: string, defaultRate: number | null, nextAt: Date): Promise<void> {
  await tx.query('update campaigns set "defaultRate" = $2, "nextAt" = $3 where id = $1', [id, defaultRate, nextAt])
}

/** Stores that a campaign has begun, by a step that creates no messages. Relies on the row lock of {@link lockForAdvance}. */
export async function saveBegun(tx: Sql, id: string): Promise<void> {
  await tx.query(
    `update campaigns set status = 'running', "processingStartedAt" = coalesce("processingStartedAt", now()), "lastActivityAt" = now(),
       "updatedAt" = now() where id = $1`,
    [id],
  )
}

/** Stores what a step made of the campaign, with the times of it. Relies on the row lock of {@link lockForAdvance}. */
export async function saveStep(
  tx: Sql,
  id: string,
  status: 'running' | 'paused' | 'completed' | 'failed',
  error: string | null,
): Promise<void> {
  await tx.query({
    name: 'campaigns.step',
    text: `update campaigns set status = $2::campaign_status, error = $3, "lastActivityAt" = now(), "updatedAt" = now(),
        "processingStartedAt" = case when $2 in ('running', 'paused') then coalesce("processingStartedAt", now()) else "processingStartedAt" end,
        "lastEnqueuedAt" = case when $2 = 'running' then now() else "lastEnqueuedAt" end,
        "completedAt" = case when $2 = 'completed' then now() else "completedAt" end
      where id = $1`,
    values: [id, status, error],
  })
}
