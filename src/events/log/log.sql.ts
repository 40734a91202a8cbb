// SQL of the event log. Reads use the index on workspace and number, those of one message the index on messages.
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'
import type { EventFilter, LogEvent, LogRange } from './log.ts'

export const eventColumns = `seq, id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload::text as payload, "createdAt"`

export type EventRow = Omit<LogEvent, 'seq'> & { seq: string }

export function eventOf(row: EventRow): LogEvent {
  return { ...row, seq: BigInt(row.seq) }
}

/** The events that one statement looks at, at most. No index has their types, instances and campaigns. */
export const windowSize = 10_000

/**
 * Returns the SQL of two named queries: `matching` are the first events of a workspace that match, in the order of the range. `stop` is
 * the place up to which the statement looked, if it found fewer than `limit` and others follow. Adds the values to `values`.
 */
export function windowOf(
  workspaceId: string,
  filter: EventFilter,
  range: LogRange,
  { columns, values }: { columns: string; values: unknown[] },
): string {
  const inRange = [`"workspaceId" = $${values.push(workspaceId)}`, `seq > $${values.push(range.after)}`]
  if (range.upTo !== undefined) inRange.push(`seq <= $${values.push(range.upTo)}`)
  const matching: string[] = []
  const also = (condition: string, value: unknown) => value != null && matching.push(`${condition} $${values.push(value)}`)
  also('"instanceId" =', filter.instanceId)
  also('"messageId" =', filter.messageId)
  also('"campaignId" =', filter.campaignId)
  if (filter.types) matching.push(`type = any($${values.push(filter.types)})`)
  // A message has few events, and an index of its own. Without a filter, all events match.
  const isBounded = matching.length > 0 && !filter.messageId
  const order = `order by seq ${range.order ?? 'asc'}`
  const within = inRange.join(' and ')
  const from = `from events where ${filter.messageId ? unindexed(within) : within}`
  return `with matching as materialized (
      select ${columns} from (select * ${from} ${isBounded ? `${order} limit ${windowSize}` : ''}) looked
      where ${matching.join(' and ') || 'true'} ${order} limit ${range.limit}
    ), stop as (
      select seq as "stopSeq", id as "stopId", "createdAt" as "stopAt" ${from} and ${isBounded} and (select count(*) from matching) < ${range.limit}
      ${order} offset ${windowSize - 1} limit 1
    )`
}

/**
 * Reads one workspace's events by number (keyset pagination). Every matching event up to `reached` is among them, or every one of the
 * range if it is null.
 */
export async function readAfter(
  sql: Sql,
  workspaceId: string,
  filter: EventFilter,
  range: LogRange,
): Promise<{ events: LogEvent[]; reached: bigint | null }> {
  const values: unknown[] = []
  const found = windowOf(workspaceId, filter, range, { columns: eventColumns, values })
  const { rows } = await sql.query<{ stopSeq: string | null } & (EventRow | { seq: null })>(
    `${found} select m.*, "stopSeq" from (select) one left join matching m on true left join stop on true
     order by m.seq ${range.order ?? 'asc'}`,
    values,
  )
  const events = rows.flatMap(({ stopSeq: _, ...row }) => (row.seq === null ? [] : [eventOf(row)]))
  const stopSeq = rows[0]?.stopSeq
  const reached = stopSeq == null ? null : BigInt(stopSeq)
  return { events, reached: events.length < range.limit ? reached : (events.at(-1)?.seq ?? null) }
}

/**
 * Reads the events of several workspaces in one query, so that a process reads once for all its subscribers. `idAfter` and `idUpTo` belong to the
 * events with these numbers, of whatever workspace; null where none is kept.
 */
export async function readOf(
  sql: Sql,
  workspaceIds: readonly string[],
  range: Required<Omit<LogRange, 'order'>>,
): Promise<{ events: LogEvent[]; idAfter: string | null; idUpTo: string | null }> {
  const { rows } = await sql.query<Record<'idAfter' | 'idUpTo', string | null> & (EventRow | { seq: null })>({
    name: 'events.readOf',
    text: `select e.*, ids.* from (
        select (select id from events where seq = $2) as "idAfter", (select id from events where seq = $3) as "idUpTo"
      ) ids left join (
        select ${eventColumns} from events where "workspaceId" = any($1) and seq > $2 and seq <= $3 order by seq limit $4
      ) e on true order by e.seq`,
    values: [workspaceIds, range.after, range.upTo, range.limit],
  })
  const { idAfter = null, idUpTo = null } = rows[0] ?? {}
  return {
    events: rows.flatMap(({ idAfter: _, idUpTo: __, ...row }) => (row.seq === null ? [] : [eventOf(row)])),
    idAfter,
    idUpTo,
  }
}

/** The last event number assigned. */
export async function lastNumber(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ last: string }>('select last from event_sequence where id = 1')
  return BigInt(rows[0]?.last ?? 0)
}
