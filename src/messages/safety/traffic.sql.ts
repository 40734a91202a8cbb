// Reads the traffic of instances from the database: recipients and message counts of the last 24 hours, replies of the last 7 days.
import type { App } from '../../core/app.ts'

/** An instance and a number that it writes to. */
export interface Pair {
  instanceId: string
  to: string
}

export interface TrafficRows {
  instanceId: string
  /** True if a message is older than 24 hours, or if the instance received any. */
  history: boolean
  recipients: { to: string; last: number; cold: boolean }[]
  minutes: { minute: number; n: number }[]
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

/** SQL query that finds a row if `peer` wrote to instance `i` at any time, or was written to more than 24 hours ago. */
function earlier(peer: string): string {
  return `select from messages e where e."workspaceId" = i."workspaceId" and e.peer = ${peer} and e."instanceId" = i.id
    and (e.direction = 'inbound' or e."createdAt" <= now() - interval '24 hours')`
}

/** Returns the pairs that have such earlier messages. */
export async function readAcquainted(app: Pick<App, 'pool'>, pairs: readonly Pair[]): Promise<Pair[]> {
  const { rows } = await app.pool.query<Pair>({
    name: 'messages.acquainted',
    text: `select a.instance as "instanceId", a.peer as "to" from unnest($1::uuid[], $2::text[]) as a(instance, peer)
      join instances i on i.id = a.instance where exists (${earlier('a.peer')})`,
    values: [pairs.map((pair) => pair.instanceId), pairs.map((pair) => pair.to)],
  })
  return rows
}

/**
 * Reads the recipients and message counts of the last 24 hours. A recipient is cold if it never wrote and was first written to within them.
 */
export async function readTraffic(app: Pick<App, 'pool'>, instanceIds: readonly string[]): Promise<TrafficRows[]> {
  const { rows } = await app.pool.query<TrafficRows>({
    name: 'messages.traffic',
    text: `select i.id as "instanceId", t.* from (select id, "workspaceId" from instances where id = any($1::uuid[])) i, lateral (
        with recent as (
          select peer, status, "createdAt" from messages
          where "instanceId" = i.id and direction = 'outbound' and "createdAt" > now() - interval '24 hours'
        ), inbound as (
          select "createdAt" from messages where "instanceId" = i.id and direction = 'inbound' and "createdAt" > now() - interval '7 days'
        )
        select
          coalesce((select json_agg(json_build_object('to', p.peer, 'last', extract(epoch from p.last) * 1000, 'cold', not exists (
            ${earlier('p.peer')}
          )) order by p.last) from (select peer, max("createdAt") as last from recent group by peer) p), '[]') as recipients,
          coalesce((select json_agg(json_build_object('minute', minute, 'n', n) order by minute) from (
            select floor(extract(epoch from "createdAt") / 60)::int as minute, count(*)::int as n from recent group by 1
          ) m), '[]') as minutes,
          exists (select from inbound) or exists (
            select from messages where "instanceId" = i.id and "createdAt" <= now() - interval '24 hours'
          ) as history,
          (select count(*)::int from recent where status = 'failed') as "failed24h",
          (select count(*)::int from inbound where "createdAt" > now() - interval '24 hours') as "inboundReplies24h",
          (select count(*)::int from inbound) as "inboundReplies7d"
      ) t`,
    values: [instanceIds],
  })
  return rows
}
