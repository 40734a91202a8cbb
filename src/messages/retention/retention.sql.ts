// SQL of retention: the workspaces with expired messages, and those messages in batches.
import type { EndedMessage } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import type { DeletedMessage } from '../../providers/provider.ts'

/** An expired message, with the address of the file that came with it and was kept here. */
export interface ExpiredMessage extends EndedMessage {
  receivedFile: string | null
}

export interface Expiring {
  workspaceId: string
  /** Messages from before this time have expired. */
  before: Date
}

/**
 * SQL: the message `m` is older than `before`, and came, has left or never will leave. A scheduled message is as old as its schedule. The network
 * may never report on one that it accepted, so the retention begins again when the network accepts it.
 */
const hasExpired = (before: string) =>
  `m."createdAt" < ${before} and coalesce(m."scheduledAt", m."createdAt") < ${before}
     and (m.status not in ('queued', 'sending') or m."acceptedAt" < ${before})`

/**
 * SQL: the status that stays with the recipient of a campaign when the message `m` is deleted. One that the network accepted counts as sent,
 * without the report; one that did not leave never will.
 */
export const statusKept = `case when m.status = 'sending' and m."acceptedAt" is not null then 'sent'
  when m.status in ('queued', 'sending') then 'cancelled' else m.status end`

/**
 * The workspaces that have expired messages, by `days` of the gateway and their own; 0 means for ever. One whose old messages have all not
 * left is not among them.
 */
export async function readExpiring(sql: Sql, days: number): Promise<Expiring[]> {
  const { rows } = await sql.query<Expiring>(
    `select e.* from (
       select w.id as "workspaceId", now() - make_interval(secs => 86400 * least(nullif($1::float8, 0), nullif(r."messagesDays", 0))) as before
       from workspaces w left join retention_settings r on r."workspaceId" = w.id
       where least(nullif($1::float8, 0), nullif(r."messagesDays", 0)) is not null
     ) e cross join lateral (select from messages m where m."workspaceId" = e."workspaceId" and ${hasExpired('e.before')} limit 1) one`,
    [days],
  )
  return rows
}

/** The workspaces whose messages expire before `most` days, by `days` of the gateway and their own; 0 means for ever. */
export async function readShort(sql: Sql, days: number, most: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select w.id from workspaces w left join retention_settings r on r."workspaceId" = w.id
     where least(nullif($1::float8, 0), nullif(r."messagesDays", 0)) < $2`,
    [days, most],
  )
  return rows.map(({ id }) => id)
}

/** Those of the messages that are stored (primary key). */
export async function readStored(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>('select id from messages where id = any($1::uuid[])', [ids])
  return new Set(rows.map(({ id }) => id))
}

/** The campaigns of the next `batch` expired messages, which are locked before the messages. */
export async function readExpiredCampaigns(sql: Sql, { workspaceId, before }: Expiring, batch: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select distinct b."campaignId" as id from (
       select "campaignId" from messages m where m."workspaceId" = $1 and ${hasExpired('$2')} order by m."createdAt", id limit $3
     ) b where b."campaignId" is not null`,
    [workspaceId, before, batch],
  )
  return rows.map(({ id }) => id)
}

/**
 * Locks at most `batch` expired messages of the workspace, oldest first (index on workspaceId, createdAt, id), of no campaign or of the locked
 * `campaignIds`. A message that has not left stays. One that is locked, or of another campaign, waits for the next run.
 */
export async function lockExpired(
  tx: Sql,
  { workspaceId, before }: Expiring,
  campaignIds: readonly string[],
  batch: number,
): Promise<ExpiredMessage[]> {
  const { rows } = await tx.query<ExpiredMessage>(
    `select id, "campaignId", ${statusKept} as status, error, "updatedAt",
       case when direction = 'inbound' and content ? 'media' and not content->'media' ? 'url' then "mediaUrl" end as "receivedFile"
     from messages m where m."workspaceId" = $1 and ${hasExpired('$2')} and (m."campaignId" is null or m."campaignId" = any($3::uuid[]))
     order by m."createdAt", id limit $4 for update skip locked`,
    [workspaceId, before, campaignIds, batch],
  )
  return rows
}

/** Reads messages that are to be deleted, for the providers (primary key). */
export async function readDeleted(tx: Sql, ids: readonly string[]): Promise<DeletedMessage[]> {
  const { rows } = await tx.query<DeletedMessage>(
    'select id, "instanceId", "to", coalesce("acceptedAt", "updatedAt") as "leftAt" from messages where id = any($1::uuid[])',
    [ids],
  )
  return rows
}

/** Relies on their row locks. */
export async function deleteRows(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query('delete from messages where id = any($1::uuid[])', [ids])
}
