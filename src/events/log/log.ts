// The event log: events numbered in commit order, without gaps, kept for 30 days.
import type { Sql } from '../../core/database/database.ts'

export const retentionDays = 30

export interface LogEvent {
  /** Event number. Numbers follow commit order and have no gaps. */
  seq: bigint
  id: string
  workspaceId: string
  type: string
  instanceId: string | null
  messageId: string | null
  campaignId: string | null
  /** JSON text: exactly the body that webhooks receive. */
  payload: string
  createdAt: Date
}

/** The events that a reader follows. A missing field matches every event. */
export interface EventFilter {
  types?: readonly string[] | null
  instanceId?: string | null
  messageId?: string | null
  campaignId?: string | null
}

export interface LogRange {
  /** Exclusive lower bound of the event number. */
  after: bigint
  /** Inclusive upper bound of the event number. */
  upTo?: bigint
  /** Maximum number of events. */
  limit: number
  /** Order by event number; `asc` unless given. */
  order?: 'asc' | 'desc'
}

export const eventColumns = `seq, id, "workspaceId", type, "instanceId", "messageId", "campaignId", payload::text as payload, "createdAt"`

export type EventRow = Omit<LogEvent, 'seq'> & { seq: string }

export function eventOf(row: EventRow): LogEvent {
  return { ...row, seq: BigInt(row.seq) }
}

/** Reads one workspace's events by number (keyset pagination). */
export async function readAfter(sql: Sql, workspaceId: string, filter: EventFilter, range: LogRange): Promise<LogEvent[]> {
  const values: unknown[] = [workspaceId, range.after]
  const where = ['"workspaceId" = $1', 'seq > $2']
  const also = (condition: string, value: unknown) => value != null && where.push(`${condition} $${values.push(value)}`)
  also('seq <=', range.upTo)
  also('"instanceId" =', filter.instanceId)
  also('"messageId" =', filter.messageId)
  also('"campaignId" =', filter.campaignId)
  if (filter.types) where.push(`type = any($${values.push(filter.types)})`)
  const { rows } = await sql.query<EventRow>(
    `select ${eventColumns} from events where ${where.join(' and ')} order by seq ${range.order ?? 'asc'} limit ${range.limit}`,
    values,
  )
  return rows.map(eventOf)
}

/** Reads the events of several workspaces in one query, so that a process reads once for all its subscribers. */
export async function readOf(
  sql: Sql,
  workspaceIds: readonly string[],
  range: Required<Omit<LogRange, 'order'>>,
): Promise<LogEvent[]> {
  const { rows } = await sql.query<EventRow>({
    name: 'events.readOf',
    text: `select ${eventColumns} from events where "workspaceId" = any($1) and seq > $2 and seq <= $3 order by seq limit $4`,
    values: [workspaceIds, range.after, range.upTo, range.limit],
  })
  return rows.map(eventOf)
}

/** The last event number assigned. */
export async function lastNumber(sql: Sql): Promise<bigint> {
  const { rows } = await sql.query<{ last: string }>('select last from event_sequence where id = 1')
  return BigInt(rows[0]?.last ?? 0)
}

/** True if the filter accepts the event. */
export function matches(filter: EventFilter, event: LogEvent): boolean {
  return (
    (!filter.types || filter.types.includes(event.type)) &&
    (!filter.instanceId || filter.instanceId === event.instanceId) &&
    (!filter.messageId || filter.messageId === event.messageId) &&
    (!filter.campaignId || filter.campaignId === event.campaignId)
  )
}
