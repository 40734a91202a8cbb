// SQL of positions in the event log. Both statements read event_sequence and events as of one moment.
import type { Sql } from '../../core/database/database.ts'
import { retentionDays } from './log.ts'

/** The last number of the log, and that of the workspace's own last event, 0 if none is kept (index on workspace and number). */
export async function readEnd(sql: Sql, workspaceId: string): Promise<{ last: bigint; own: bigint }> {
  const { rows } = await sql.query<{ last: string; own: string }>(
    `select last, coalesce((select max(seq) from events where "workspaceId" = $1), 0) as own from event_sequence where id = 1`,
    [workspaceId],
  )
  return { last: BigInt(rows[0]?.last ?? 0), own: BigInt(rows[0]?.own ?? 0) }
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
}

/** For this long after an upgrade, processes of the previous version may run beside new ones, and issue legacy cursors. */
const upgradeHours = 1

/** Reads the limits of a cursor (primary key of the events). `old` is the number in a legacy cursor. */
export async function readBounds(sql: Sql, workspaceId: string, old: bigint | undefined): Promise<LogBounds> {
  const { rows } = await sql.query<
    Record<'last' | 'floor' | 'sealedAfter', string> & Record<'takesLegacy' | 'isLegacy', boolean>
  >(
    `select last, coalesce((select min(seq) - 1 from events), last) as floor, "sealedAfter",
       "sealedAt" > now() - make_interval(days => $3) as "takesLegacy",
       exists (select from events where seq = $2 and "workspaceId" = $1 and "createdAt" < "sealedAt" + make_interval(hours => $4)) as "isLegacy"
     from event_sequence where id = 1`,
    [workspaceId, old ?? null, retentionDays, upgradeHours],
  )
  const { last = 0, floor = 0, sealedAfter = 0, takesLegacy = false, isLegacy = false } = rows[0] ?? {}
  return { last: BigInt(last), floor: BigInt(floor), sealedAfter: BigInt(sealedAfter), takesLegacy, isLegacy }
}
