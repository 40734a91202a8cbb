// SQL of lines: the open messages to one recipient, in the order in which they leave.
import type { Sql } from '../../core/database/database.ts'
import type { Dispatchable } from './dispatch-job.ts'
import { leaseMs } from './policy.ts'

export interface Recipient {
  instanceId: string
  peer: string
}

/** A recipient as a key of maps. */
export function recipientOf({ instanceId, peer }: Recipient): string {
  return `${instanceId} ${peer}`
}

/** True for the messages that keep later ones to the same recipient waiting: those in the index of open messages that are due. */
function isOpenSql(m: string): string {
  return `${m}.direction = 'outbound' and ${m}.status in ('queued', 'sending') and ${m}."acceptedAt" is null and ${m}."dueAt" <= now()`
}

/**
 * True if an open message to the same recipient comes before the message `m`. Relies on the index of open messages by instance, peer and due
 * time. The messages of one owner have different times of acceptance (`createdAt`), in the order of their commits; only those of one
 * transaction share one, and have ids in their order. Those of a campaign have the time at which its step began, so they come before messages
 * that were accepted during the step.
 */
export const isFollowerSql = `exists (
  select 1 from messages e where e."instanceId" = m."instanceId" and e.peer = m.peer and ${isOpenSql('e')}
    and (e."dueAt", e."createdAt", e.id) < (m."dueAt", m."createdAt", m.id))`

/** An open message of a line. */
export interface LineRow extends Dispatchable, Recipient {
  /** True if it may be claimed once it is the first of its line. */
  ready: boolean
}

/**
 * The first `most` due messages of each line, in the order in which they leave. Relies on the index of open messages, as
 * {@link isFollowerSql} does.
 */
export async function readLines(sql: Sql, recipients: readonly Recipient[], most: number): Promise<LineRow[]> {
  const { rows } = await sql.query<LineRow>({
    name: 'messages.lines',
    text: `select m.* from unnest($1::uuid[], $2::text[]) as u(instance, peer) cross join lateral (
        select e.id, e."instanceId", e.peer, e."scheduledAt", e."campaignId",
          e.status = 'queued' and e."waitingSince" is null and coalesce(e."nextAttemptAt" <= now(), true) as ready
        from messages e where e."instanceId" = u.instance and e.peer = u.peer and ${isOpenSql('e')}
        order by e."dueAt", e."createdAt", e.id limit $3
      ) m`,
    values: [recipients.map(({ instanceId }) => instanceId), recipients.map(({ peer }) => peer), most],
  })
  return rows
}

/** The first message of a line. */
export interface FirstOfLine extends Recipient {
  /** How long it has been with the network; null if it is not. */
  leasedForMs: number | null
  /** When it is tried again. */
  nextAttemptAt: Date | null
  /** The key under which it is held. */
  heldBy: string | null
  /** The length of its line, at most 200. */
  open: number
}

/** The first messages of these lines, which their followers wait for. */
export async function readFirsts(tx: Sql, recipients: readonly Recipient[]): Promise<FirstOfLine[]> {
  const { rows } = await tx.query<FirstOfLine>(
    `select p.*, (extract(epoch from now() - e."leaseUntil") * 1000 + $3)::float8 as "leasedForMs", e."nextAttemptAt",
       case when e."waitingSince" is not null then e."heldBy" end as "heldBy",
       (select count(*)::int from (
          select from messages o where o."instanceId" = p."instanceId" and o.peer = p.peer and ${isOpenSql('o')} limit 200) line) as open
     from (select distinct * from unnest($1::uuid[], $2::text[]) as u("instanceId", peer)) p
     cross join lateral (
       select * from messages e where e."instanceId" = p."instanceId" and e.peer = p.peer and ${isOpenSql('e')}
       order by e."dueAt", e."createdAt", e.id limit 1
     ) e`,
    [recipients.map(({ instanceId }) => instanceId), recipients.map(({ peer }) => peer), leaseMs],
  )
  return rows
}
