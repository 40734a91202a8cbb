// The traffic of instances: what the last day's messages add up to, read from the database and then counted on.
import type { App } from '../core/app.ts'
import type { Traffic } from '../instances/safety.ts'
import type { SafetyInstance } from './safety.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Traffic is kept by the minute. */
const minuteMs = 60_000

interface Recipient {
  last: number
  cold: boolean
}

/** What one instance sent and got, as far as this process knows. */
export interface Window {
  loadedAt: number
  loading: Promise<void> | null
  /** Messages by minute since 1970, oldest first. */
  minutes: Map<number, number>
  outbound1h: number
  outbound24h: number
  recipients: Map<string, Recipient>
  /** Whether there is anybody that it could know from earlier, */
  history: boolean
  /** and those of them who were asked for and are not among the recipients yet. */
  acquainted: Set<string>
  unique1h: number
  cold: number
  /** The minute up to which the sums above are right. */
  minute: number
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

export interface TrafficRows {
  instanceId: string
  /** Whether anything was sent before the last day, or anybody wrote. */
  history: boolean
  recipients: { to: string; last: number; cold: boolean }[]
  minutes: { minute: number; n: number }[]
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

/** As SQL, what makes a recipient of instance `i` an acquaintance: it wrote, or was written to before the last day. */
function earlier(peer: string): string {
  return `select from messages e where e."workspaceId" = i."workspaceId" and e.peer = ${peer} and e."instanceId" = i.id
    and (e.direction = 'inbound' or e."createdAt" <= now() - interval '24 hours')`
}

/** Those of the pairs who know each other from earlier. */
export async function readAcquainted(app: Pick<App, 'pool'>, pairs: readonly Pair[]): Promise<Pair[]> {
  const { rows } = await app.pool.query<Pair>({
    name: 'messages.acquainted',
    text: `select a.instance as "instanceId", a.peer as "to" from unnest($1::uuid[], $2::text[]) as a(instance, peer)
      join instances i on i.id = a.instance where exists (${earlier('a.peer')})`,
    values: [pairs.map((pair) => pair.instanceId), pairs.map((pair) => pair.to)],
  })
  return rows
}

/** An instance and somebody that it writes to. */
export interface Pair {
  instanceId: string
  to: string
}

/** The last day's recipients and minutes of instances. A recipient is cold who never wrote and was first written to within it. */
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

/** Traffic as of now, from what was read. */
export function trafficAt(rows: TrafficRows, instance: Pick<SafetyInstance, 'disconnections'>, now: Date): Traffic {
  const window = windowOf(rows)
  advance(window, Math.floor(now.getTime() / minuteMs))
  return trafficOf(window, instance, now)
}

export function windowOf(rows: TrafficRows): Window {
  return {
    loadedAt: Date.now(),
    loading: null,
    history: rows.history,
    acquainted: new Set(),
    minutes: new Map(rows.minutes.map(({ minute, n }) => [minute, n])),
    recipients: new Map(rows.recipients.map(({ to, last, cold }) => [to, { last, cold }])),
    outbound1h: 0,
    outbound24h: 0,
    unique1h: 0,
    cold: 0,
    minute: 0,
    failed24h: rows.failed24h,
    inboundReplies24h: rows.inboundReplies24h,
    inboundReplies7d: rows.inboundReplies7d,
  }
}

/** Adds a message; answers whether its recipient is cold. */
export function count(window: Window, to: string, now: number): boolean {
  const minute = Math.floor(now / minuteMs)
  advance(window, minute)
  window.minutes.set(minute, (window.minutes.get(minute) ?? 0) + 1)
  window.outbound1h++
  window.outbound24h++
  const known = window.recipients.get(to)
  if (!known) {
    const cold = !window.acquainted.delete(to)
    window.recipients.set(to, { last: now, cold })
    window.unique1h++
    if (cold) window.cold++
    return cold
  }
  if (known.last < now - hourMs) window.unique1h++
  // Recipients stand in the order of their last message, so that the oldest are found first.
  window.recipients.delete(to)
  window.recipients.set(to, { ...known, last: now })
  return known.cold
}

/** Lets what has become too old fall out; the work is done once a minute, not once a message. */
function advance(window: Window, minute: number): void {
  if (window.minute === minute) return
  window.minute = minute
  const now = minute * minuteMs
  let outbound1h = 0
  let outbound24h = 0
  for (const [at, n] of window.minutes) {
    if (at * minuteMs < now - dayMs) window.minutes.delete(at)
    else outbound24h += n
    if (at * minuteMs >= now - hourMs) outbound1h += n
  }
  let unique1h = 0
  let cold = 0
  for (const [to, recipient] of window.recipients) {
    if (recipient.last < now - dayMs) window.recipients.delete(to)
    else {
      if (recipient.last >= now - hourMs) unique1h++
      if (recipient.cold) cold++
    }
  }
  Object.assign(window, { outbound1h, outbound24h, unique1h, cold })
}

export function trafficOf(window: Window, instance: Pick<SafetyInstance, 'disconnections'>, now: Date): Traffic {
  return {
    outbound1h: window.outbound1h,
    outbound24h: window.outbound24h,
    uniqueRecipients1h: window.unique1h,
    uniqueRecipients24h: window.recipients.size,
    inboundReplies24h: window.inboundReplies24h,
    inboundReplies7d: window.inboundReplies7d,
    failed24h: window.failed24h,
    coldRecipients24h: window.cold,
    disconnections24h: disconnections24h(instance, now),
  }
}

function disconnections24h(instance: Pick<SafetyInstance, 'disconnections'>, now: Date): number {
  return instance.disconnections.filter((at) => now.getTime() - at.getTime() < dayMs).length
}
