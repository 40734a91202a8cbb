// SQL of messages of a campaign: takes back or cancels those that have not been sent, and counts those on their way.
import type { Sql } from '../../core/database/database.ts'
import type { EventfulMessage } from '../events.ts'

/** A message that no provider has, when it is taken back or cancelled. */
export interface UnsentMessage extends EventfulMessage {
  ownerId: string
  period: string | null
  waiting: boolean
}

const queued = `m.status = 'queued'`
/** The provider gave it back: no lease, and no attempt whose outcome is unknown. */
const cameBack = `m.status = 'sending' and m."leaseToken" is null and m."acceptedAt" is null and m."handedAt" is null`
/** SQL condition for a message `m` that the provider certainly does not have. */
export const isUnsent = `(${queued} or ${cameBack})`

/**
 * SQL query that locks the campaign's messages that match `which`. The row locks wait for a running claim, so each message is either in the
 * result or in delivery.
 */
function lockSql(which: string): string {
  return `select m.id, m."workspaceId", m."instanceId", m."campaignId", m."providerMessageId", m."to", m.reference, w."ownerId",
      m."countedPeriod"::text as period, m."waitingSince" is not null as waiting
    from messages m join workspaces w on w.id = m."workspaceId"
    where m."campaignId" = $1 and (${which}) order by m.id for update of m`
}

/**
 * Locks the messages of a campaign that no provider has, in the order of their ids, for a transaction that treats the queued ones and the others
 * by one statement each: a claim locks both kinds in that order.
 */
export async function lockUnsent(tx: Sql, campaignId: string): Promise<void> {
  await tx.query(`select from messages m where m."campaignId" = $1 and ${isUnsent} order by m.id for update`, [campaignId])
}

/** Deletes the messages of a campaign that no provider has: queued, or given back by the provider. */
export async function deleteUnsent(tx: Sql, campaignId: string): Promise<UnsentMessage[]> {
  const { rows } = await tx.query<UnsentMessage>(
    `with locked as (${lockSql(isUnsent)}) delete from messages m using locked where m.id = locked.id returning locked.*`,
    [campaignId],
  )
  return rows
}

/** Cancels the queued messages of a campaign. */
export async function cancelQueuedOf(tx: Sql, campaignId: string): Promise<UnsentMessage[]> {
  const { rows } = await tx.query<UnsentMessage>(
    `with locked as (${lockSql(queued)})
     update messages m set status = 'cancelled', "cancelledAt" = now(), "updatedAt" = now(), "countedPeriod" = null, "waitingSince" = null
     from locked where m.id = locked.id returning locked.*`,
    [campaignId],
  )
  return rows
}

export interface OpenMessages {
  /** Queued or sending. */
  open: number
  /** Those of them that no provider has accepted. */
  unaccepted: number
  /** Those of them that are deferred or held. */
  waiting: number
  /** Those of them that are deferred. */
  deferred: number
}

/** Counts the messages of the campaign that are on their way. */
export async function countOpen(tx: Sql, campaignId: string): Promise<OpenMessages> {
  const { rows } = await tx.query<OpenMessages>({
    name: 'messages.open',
    text: `select count(*)::int as open, count(*) filter (where "acceptedAt" is null)::int as unaccepted,
        count("waitingSince")::int as waiting, count(*) filter (where "waitingSince" is not null and "heldBy" is null)::int as deferred
      from messages where "campaignId" = $1 and status in ('queued', 'sending')`,
    values: [campaignId],
  })
  return rows[0] as OpenMessages
}
