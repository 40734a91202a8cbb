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

export interface TrafficCounts {
  /** True if the instance may know numbers that are not among the recipients of the span. */
  history: boolean
  /** Departures by minute, and those of them that failed. */
  minutes: [minute: number, n: number, failed: number][]
  inboundReplies24h: number
  inboundReplies7d: number
}

export interface TrafficRows extends TrafficCounts {
  instanceId: string
  /**
   * Number, the minutes of its departures (since 1970), and the one of them that was the first to a stranger: one who never wrote, and for whom
   * none left before.
   */
  recipients: [to: string, minutes: number[], coldAt: number | null][]
}

/** Traffic around one moment, with those of its recipients that were asked for. */
export type SummedRows = TrafficRows & { sums: Sums }

/** Departures in the day before a minute and in the hour after it. */
export interface Sums {
  outbound1h: number
  outbound24h: number
  uniqueRecipients1h: number
  uniqueRecipients24h: number
  coldRecipients24h: number
  failed24h: number
}

/** When the message was handed to the network. Rows from before the column existed have the time of the answer. */
const leftAt = 'coalesce("handedAt", "acceptedAt")'

/** The latest messages with a number among which an instance finds those of its own. Messages of all accounts wait while they are read. */
const mostLooked = 1_000

/**
 * SQL query that finds a row if `peer` wrote to instance `i` at any time, or if a message left for it before the span `a`: one of the latest
 * {@link mostLooked} messages of the workspace with that number, because no index has the messages of an instance with it.
 */
function earlier(peer: string): string {
  return `select from (
      select "instanceId", direction, "handedAt", "acceptedAt" from messages where "workspaceId" = i."workspaceId" and peer = ${peer}
      order by "createdAt" desc, id desc limit ${mostLooked}
    ) e where e."instanceId" = i.id and (e.direction = 'inbound' or coalesce(e."handedAt", e."acceptedAt") <= a.first)`
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

const minuteOf = (at: string) => `floor(date_part('epoch', ${at}) / 60)::int`

/**
 * SQL subqueries for instance `i` and the span `a`, for a time to live of `$1` ms: `departing`, the messages that were handed to the network
 * and those queued for then, and `inbound`, what came in 7 days. Overdue messages count as leaving now. A message leaves at most its time to
 * live after it is due, so two indexes find it: by creation, and for scheduled ones by `dueAt`.
 */
const departing = `departing as (
    select peer, cold, status = 'failed' as failed, ${leftAt} as at from messages
    where "instanceId" = i.id and direction = 'outbound' and "scheduledAt" is null
      and "createdAt" > a.first - $1 * interval '1 millisecond' and ${leftAt} > a.first and ${leftAt} <= a.last
    union all
    select peer, cold, status = 'failed', ${leftAt} from messages
    where "instanceId" = i.id and direction = 'outbound' and "scheduledAt" is not null
      and "dueAt" > a.first - $1 * interval '1 millisecond' and "dueAt" <= a.last and ${leftAt} > a.first and ${leftAt} <= a.last
    union all
    select peer, cold, false, greatest("dueAt", "nextAttemptAt", now()) from messages
    where "instanceId" = i.id and direction = 'outbound' and status in ('queued', 'sending') and "acceptedAt" is null
      and "handedAt" is null and "dueAt" <= a.last and greatest("dueAt", "nextAttemptAt", now()) between a.first and a.last
  ), inbound as (
    select peer, "createdAt" from messages
    where "instanceId" = i.id and direction = 'inbound' and "createdAt" > now() - interval '7 days'
  )`

/** Columns of the numbers of `departing`, by number. `known` is false if one of its rows is from before messages were marked as cold. */
const byNumber = `peer, max(${minuteOf('at')}) as latest, min(${minuteOf('at')}) as earliest, min(${minuteOf('at')}) filter (where cold) as marked,
  bool_and(cold is not null) as known`

/** The minute of the first message to the number `p`, if it was a stranger. Only rows without a mark need a look at earlier messages. */
const coldAt = `case when p.peer not in (select peer from inbound)
  then coalesce(p.marked, case when not p.known and not exists (${earlier('p.peer')}) then p.earliest end) end`

/** The columns of {@link TrafficCounts}. */
const counts = `
  coalesce((select json_agg(json_build_array(minute, n, failed)) from (
    select ${minuteOf('at')} as minute, count(*)::int as n, count(*) filter (where failed)::int as failed from departing group by 1
  ) m), '[]') as minutes,
  exists (select from inbound) or coalesce((select min("createdAt") from messages where "instanceId" = i.id) <= a.first, false) as history,
  (select count(*)::int from inbound where "createdAt" > now() - interval '24 hours') as "inboundReplies24h",
  (select count(*)::int from inbound) as "inboundReplies7d"`

/** Reads the departures of each span, with its position. */
export async function readTraffic(
  sql: Sql,
  spans: readonly Span[],
  ttlMs: number,
): Promise<(TrafficRows & { position: number })[]> {
  const { rows } = await sql.query<TrafficRows & { position: number }>({
    name: 'messages.traffic',
    text: `select i.id as "instanceId", a.position::int - 1 as position, t.*
      from unnest($2::uuid[], $3::timestamptz[], $4::timestamptz[]) with ordinality as a(instance, first, last, position)
      join instances i on i.id = a.instance, lateral (
        with ${departing}, peers as (
          select ${byNumber}, array_agg(distinct ${minuteOf('at')}) as minutes from departing group by peer
        ) select coalesce((select json_agg(json_build_array(p.peer, p.minutes, ${coldAt})) from peers p), '[]') as recipients, ${counts}
      ) t`,
    values: [ttlMs, spans.map((span) => span.instanceId), spans.map((span) => span.from), spans.map((span) => span.to)],
  })
  return rows
}

/**
 * Adds up what leaves around `at`, and reads the recipients among `numbers`. A list of all recipients holds the event loop for 0.4 s if an
 * instance writes to 150,000 numbers a day.
 */
export async function readSums(
  sql: Sql,
  instanceIds: readonly string[],
  at: Date,
  numbers: readonly string[],
  ttlMs: number,
): Promise<SummedRows[]> {
  const { rows } = await sql.query<SummedRows>({
    name: 'messages.sums',
    text: `select i.id as "instanceId", t.*
      from (
        select $3::timestamptz - interval '1 day' as first, $3::timestamptz + interval '1 hour' as last, ${minuteOf('$3::timestamptz')} as present
      ) a join instances i on i.id = any($2::uuid[]), lateral (
        with ${departing}, peers as (select ${byNumber} from departing group by peer) select ${counts},
          coalesce((select json_agg(json_build_array(p.peer, (
              select array_agg(distinct ${minuteOf('d.at')}) from departing d where d.peer = p.peer), ${coldAt}))
            from peers p where p.peer = any($4::text[])), '[]') as recipients,
          (select jsonb_build_object('outbound1h', count(*) filter (where ${minuteOf('at')} > a.present - 60), 'outbound24h', count(*),
              'failed24h', count(*) filter (where failed))
            from departing where ${minuteOf('at')} > a.present - 1440)
          || (select jsonb_build_object('uniqueRecipients1h', count(*) filter (where latest > a.present - 60), 'uniqueRecipients24h', count(*),
              'coldRecipients24h', count(*) filter (where ${coldAt} > a.present - 1440)) from peers p where latest > a.present - 1440) as sums
      ) t`,
    values: [ttlMs, instanceIds, at, numbers],
  })
  return rows
}
