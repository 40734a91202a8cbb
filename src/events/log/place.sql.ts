// SQL of positions in the event log. Both statements read event_sequence and events as of one moment.
import type { Sql } from '../../core/database/database.ts'
import { type Marked, markOf } from './cursor.ts'
import { retentionDays } from './log.ts'

/** The workspace's own last event; its number is 0 if none is kept (index on workspace and number). */
export const ownLastSql = `(select seq as "ownSeq", id as "ownId" from events where "workspaceId" = $1 order by seq desc limit 1)`

export function ownLastOf(row: { ownSeq: string | null; ownId: string | null } | undefined): Marked {
  return { seq: BigInt(row?.ownSeq ?? 0), mark: markOf(row?.ownId ?? noEvent) }
}

/** Stands for the id before the first event. */
const noEvent = '00000000'

/** The last number of the log, and the workspace's own last event. */
export async function readEnd(sql: Sql, workspaceId: string): Promise<{ last: bigint; own: Marked }> {
  const { rows } = await sql.query<{ last: string; ownSeq: string | null; ownId: string | null }>(
    `select last, own.* from event_sequence left join ${ownLastSql} own on true where event_sequence.id = 1`,
    [workspaceId],
  )
  return { last: BigInt(rows[0]?.last ?? 0), own: ownLastOf(rows[0]) }
}

export interface LogBounds {
  /** The last number of the log. */
  last: bigint
  /** The number before the oldest event kept. */
  floor: bigint
  /** The last number when cursors became encrypted. */
  sealedAfter: bigint
  /** True while legacy (unencrypted) cursors are accepted. */
  takesLegacy: boolean
  /** True if the number is an event of the workspace that a process of the previous version may have issued in a legacy cursor. */
  isLegacy: boolean
  /** The event with that number, without a mark if it is of another workspace. Null if it is not kept. */
  found: Pick<Marked, 'mark'> | null
}

/** For this long after an upgrade, processes of the previous version may run beside new ones, and issue legacy cursors. */
const upgradeHours = 1

/** Reads the limits of a cursor with the number `seq` (primary key of the events). */
export async function readBounds(sql: Sql, workspaceId: string, seq: bigint): Promise<LogBounds> {
  const { rows } = await sql.query<
    Record<'last' | 'floor' | 'sealedAfter', string> & Record<'takesLegacy' | 'isLegacy', boolean> & { foundId: string | null }
  >(
    `select last, coalesce((select min(seq) - 1 from events), last) as floor, "sealedAfter",
       "sealedAt" > now() - make_interval(days => $3) as "takesLegacy",
       exists (select from events where seq = $2 and "workspaceId" = $1 and "createdAt" < "sealedAt" + make_interval(hours => $4)) as "isLegacy",
       (select case when "workspaceId" = $1 then id::text else '' end from events where seq = $2) as "foundId"
     from event_sequence where id = 1`,
    [workspaceId, seq, retentionDays, upgradeHours],
  )
  const { last = 0, floor = 0, sealedAfter = 0, takesLegacy = false, isLegacy = false, foundId } = rows[0] ?? {}
  const found = foundId == null ? null : { mark: foundId ? markOf(foundId) : undefined }
  return { last: BigInt(last), floor: BigInt(floor), sealedAfter: BigInt(sealedAfter), takesLegacy, isLegacy, found }
}
