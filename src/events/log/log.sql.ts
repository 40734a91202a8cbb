// SQL of the event log. Reads use the index on workspace and number.
import type { Sql } from '../../core/database/database.ts'
import type { EventFilter, LogEvent, LogRange } from './log.ts'

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
