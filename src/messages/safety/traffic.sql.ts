// Reads the traffic of instances from the database: messages that left or are about to, and the replies of the last 7 days.
import type { Sql } from '../../core/database/database.ts'

/** An instance and a number that it writes to. */
export interface Pair {
  instanceId: string
  to: string
}

/** The departures of an instance from `from` on and up to `to`. */
export interface Span {
  instanceId: string
  from: Date
  to: Date
}

export interface TrafficRows {
  instanceId: string
  /** True if the instance may know numbers that are not among `recipients`. */
  history: boolean
  /** Number, the minutes of its departures (since 1970), and if it is cold: it never wrote, and none left for it before the span. */
  recipients: [to: string, minutes: number[], cold: boolean][]
  /** Departures by minute. */
  minutes: [minute: number, n: number][]
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

/** When the message was handed to the network. Rows from before the column existed have the time of the answer. */
const leftAt = 'coalesce("handedAt", "acceptedAt")'

/** SQL query that finds a row if `peer` wrote to instance `i` at any time, or if a message left for it before the span `a`. */
function earlier(peer: string): string {
  return `select from messages e where e."workspaceId" = i."workspaceId" and e.peer = ${peer} and e."instanceId" = i.id
    and (e.direction = 'inbound' or coalesce(e."handedAt", e."acceptedAt") <= a.first)`
}

/** Returns the pairs that have such earlier messages. `from` is the beginning of the span. */
export async function readAcquainted(sql: Sql, pairs: readonly (Pair & { from: Date })[]): Promise<Pair[]> {
  const { rows } = await sql.query<Pair>({
    name: 'messages.acquainted',
    text: `select a.instance as "instanceId", a.peer as "to" from unnest($1::uuid[], $2::text[], $3::timestamptz[]) as a(instance, peer, first)
      join instances i on i.id = a.instance where exists (${earlier('a.peer')})`,
    values: [pairs.map((pair) => pair.instanceId), pairs.map((pair) => pair.to), pairs.map((pair) => pair.from)],
  })
  return rows
}

const minuteOf = (at: string) => `floor(extract(epoch from ${at})::float8 / 60)::int`

/**
 * Reads the departures of each span, with its position: messages that were handed to the network, and those queued for then. Overdue ones
 * count as leaving now. A message leaves at most `ttlMs` after it is due, so two indexes find it: by creation, and for scheduled ones by
 * `dueAt`. The first message to a stranger is marked `cold`; only rows from before that column existed need a look at earlier messages.
 */
export async function readTraffic(
  sql: Sql,
  spans: readonly Span[],
  ttlMs: number,
): Promise<(TrafficRows & { position: number })[]> {
  const { rows } = await sql.query<TrafficRows & { position: number }>({
    name: 'messages.traffic',
    text: `select i.id as "instanceId", a.position::int - 1 as position, t.*
      from unnest($1::uuid[], $2::timestamptz[], $3::timestamptz[]) with ordinality as a(instance, first, last, position)
      join instances i on i.id = a.instance, lateral (
        with departing as (
          select peer, cold, status = 'failed' as failed, ${leftAt} as at from messages
          where "instanceId" = i.id and direction = 'outbound' and "scheduledAt" is null
            and "createdAt" > a.first - $4 * interval '1 millisecond' and ${leftAt} > a.first and ${leftAt} <= a.last
          union all
          select peer, cold, status = 'failed', ${leftAt} from messages
          where "instanceId" = i.id and direction = 'outbound' and "scheduledAt" is not null
            and "dueAt" > a.first - $4 * interval '1 millisecond' and "dueAt" <= a.last and ${leftAt} > a.first and ${leftAt} <= a.last
          union all
          select peer, cold, false, greatest("dueAt", "nextAttemptAt", now()) from messages
          where "instanceId" = i.id and direction = 'outbound' and status in ('queued', 'sending') and "acceptedAt" is null
            and "handedAt" is null and "dueAt" <= a.last and greatest("dueAt", "nextAttemptAt", now()) between a.first and a.last
        ), inbound as (
          select peer, "createdAt" from messages
          where "instanceId" = i.id and direction = 'inbound' and "createdAt" > now() - interval '7 days'
        ), sums as (
          select peer, ${minuteOf('at')} as minute, count(*) as n, bool_or(cold) as cold, bool_and(cold is not null) as known
          from departing group by 1, 2
        ), peers as (
          select peer, array_agg(minute) as minutes, bool_or(cold) as cold, bool_and(known) as known from sums group by peer
        )
        select
          coalesce((select json_agg(json_build_array(p.peer, p.minutes, p.peer not in (select peer from inbound)
            and (p.cold is true or (not p.known and not exists (${earlier('p.peer')}))))) from peers p), '[]') as recipients,
          coalesce((select json_agg(json_build_array(minute, n)) from (
            select minute, sum(n)::int as n from sums group by 1
          ) m), '[]') as minutes,
          exists (select from inbound) or exists (
            select from messages where "instanceId" = i.id and "createdAt" <= a.first
          ) as history,
          (select count(*)::int from departing where failed) as "failed24h",
          (select count(*)::int from inbound where "createdAt" > now() - interval '24 hours') as "inboundReplies24h",
          (select count(*)::int from inbound) as "inboundReplies7d"
      ) t`,
    values: [spans.map((span) => span.instanceId), spans.map((span) => span.from), spans.map((span) => span.to), ttlMs],
  })
  return rows
}
