// SQL of pages of the event log. The rows themselves are read by their numbers, with what the selection needs.
import type { Sql } from '../../core/database/database.ts'
import type { Marked } from './cursor.ts'
import { windowOf } from './log.sql.ts'
import type { EventFilter, LogRange } from './log.ts'
import { ownLastOf, ownLastSql } from './place.sql.ts'

/** The parts of an event's cursor. */
export interface Position {
  seq: bigint
  id: string
  createdAt: Date
}

export interface Found {
  /** Matching events, in the order of the range. */
  events: Position[]
  /** The last event looked at, when the statement found fewer than asked, and others follow; otherwise null. */
  stop: Position | null
  /** The workspace's last event, as of the same moment; its number is 0 if none is kept. */
  own: Marked
}

interface Row {
  seq: string | null
  id: string | null
  createdAt: Date | null
  stopSeq: string | null
  stopId: string | null
  stopAt: Date | null
  ownSeq: string | null
  ownId: string | null
}

/** Finds the first matching events of a range, among those that one statement looks at (index on workspace and number). */
export async function findEvents(sql: Sql, workspaceId: string, filter: EventFilter, range: LogRange): Promise<Found> {
  const values: unknown[] = []
  const found = windowOf(workspaceId, filter, range, { columns: 'seq, id, "createdAt"', values })
  const { rows } = await sql.query<Row>(
    `${found} select m.*, stop.*, own.* from (select) one left join matching m on true left join stop on true
     left join ${ownLastSql} own on true order by m.seq ${range.order ?? 'asc'}`,
    values,
  )
  const [first] = rows
  return {
    events: rows.flatMap(({ seq, id, createdAt }) => positionOf(seq, id, createdAt) ?? []),
    stop: first ? positionOf(first.stopSeq, first.stopId, first.stopAt) : null,
    own: ownLastOf(first),
  }
}

function positionOf(seq: string | null, id: string | null, createdAt: Date | null): Position | null {
  return seq && id && createdAt ? { seq: BigInt(seq), id, createdAt } : null
}
