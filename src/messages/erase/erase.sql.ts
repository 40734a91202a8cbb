// SQL of erasing messages: the messages with a number in batches.
import type { EndedMessage } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { isUnsent } from '../accept/unsent.sql.ts'
import { statusKept } from '../retention/retention.sql.ts'

/** The messages to erase: those with a number, up to a time. */
export interface Asked {
  workspaceId: string
  phone: string
  before: string
}

export interface ErasedMessage extends EndedMessage {
  mediaUrl: string | null
  ownerId: string
  /** The month whose quota it holds although it has not left. */
  period: string | null
}

/** A time of the database, by whose clock messages are created, that no message of a committed transaction is later than. */
export async function readTime(tx: Sql): Promise<Date> {
  // `createdAt` is rounded to milliseconds, and a Date cuts the rest off.
  const { rows } = await tx.query<{ at: Date }>(`select clock_timestamp() + interval '1 millisecond' as at`)
  return rows[0]?.at as Date
}

const ofNumber = `m."workspaceId" = $1 and m.peer = $2 and m."createdAt" <= $3`
/** A provider may have it at this moment, so its outcome comes first. */
const underWay = `m.status = 'sending' and coalesce(m."leaseUntil" > now(), false)`

const erasable = `${ofNumber} and not (${underWay})`

/** The campaigns of the next `batch` messages to erase, which are locked before the messages. */
export async function readErasedCampaigns(sql: Sql, { workspaceId, phone, before }: Asked, batch: number): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select distinct b."campaignId" as id from (select m."campaignId" from messages m where ${erasable} order by m.id limit $4) b
     where b."campaignId" is not null`,
    [workspaceId, phone, before, batch],
  )
  return rows.map(({ id }) => id)
}

/**
 * Locks at most `batch` messages with the number (index workspaceId, peer, createdAt), in the order of their ids, of no campaign or of the
 * locked `campaignIds`.
 */
export async function lockErased(
  tx: Sql,
  { workspaceId, phone, before }: Asked,
  campaignIds: readonly string[],
  batch: number,
): Promise<ErasedMessage[]> {
  const { rows } = await tx.query<ErasedMessage>(
    `select m.id, m."campaignId", ${statusKept} as status, m.error, m."updatedAt", m."mediaUrl", w."ownerId",
       case when ${isUnsent} then m."countedPeriod"::text end as period
     from messages m join workspaces w on w.id = m."workspaceId"
     where ${erasable} and (m."campaignId" is null or m."campaignId" = any($4::uuid[])) order by m.id limit $5 for update of m`,
    [workspaceId, phone, before, campaignIds, batch],
  )
  return rows
}

/**
 * Puts off the messages with the number that are left, so that no further attempt begins, and returns how many they are. The network has
 * each of them, or has just given it back. The row locks wait for a claim that is running.
 */
export async function postponeLeft(sql: Sql, { workspaceId, phone, before }: Asked): Promise<number> {
  const { rowCount } = await sql.query(
    `with left_over as (select m.id from messages m where ${ofNumber} order by m.id for update of m)
     update messages m set "dueAt" = now() + interval '1 hour' from left_over where m.id = left_over.id`,
    [workspaceId, phone, before],
  )
  return rowCount ?? 0
}
