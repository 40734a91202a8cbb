// SQL of pages of the event log. The rows themselves are read by their numbers, with what the selection needs.
import type { Sql } from '../../core/database/database.ts'
import { windowOf, windowSize } from './log.sql.ts'
import type { EventFilter, LogRange } from './log.ts'

/** The number and time of an event. */
export interface Position {
  seq: bigint
  createdAt: Date
}

export interface Found {
  /** Matching events, in the order of the range. */
  events: Position[]
  /** The last event looked at, when the statement found fewer than asked, and others follow; otherwise null. */
  stop: Position | null
  /** The number of the workspace's last event, as of the same moment; 0 if none is kept. */
  own: bigint
}

interface Row {
  seq: string | null
  createdAt: Date | null
  stopSeq: string | null
  stopAt: Date | null
  own: string
}

/** Finds the first matching events of a range, among its first `size` events (index on workspace and number). */
export async function findEvents(
  sql: Sql,
  workspaceId: string,
  filter: EventFilter,
  range: LogRange,
  size = windowSize,
): Promise<Found> {
  const values: unknown[] = []
  const found = windowOf(workspaceId, filter, range, { columns: 'seq, "createdAt"', values, size })
  const { rows } = await sql.query<Row>(
    `${found} select m.*, stop.*, (select coalesce(max(seq), 0) from events where "workspaceId" = $1) as own
     from (select) one left join matching m on true left join stop on true order by m.seq ${range.order ?? 'asc'}`,
    values,
  )
  const [first] = rows
  return {
    events: rows.flatMap(({ seq, createdAt }) => positionOf(seq, createdAt) ?? []),
    stop: positionOf(first?.stopSeq, first?.stopAt),
    own: BigInt(first?.own ?? 0),
  }
}

function positionOf(seq: string | null | undefined, createdAt: Date | null | undefined): Position | null {
  return seq && createdAt ? { seq: BigInt(seq), createdAt } : null
}
