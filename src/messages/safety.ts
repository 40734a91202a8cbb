// What sending does to an instance's safety, known without asking the database for every message: each process keeps
// the last day's recipients of the instances it sends through, reads them when first needed, and again every minute so
// that other processes' sends count too.
import type { App } from '../core/app.ts'
import { assess, coldRatio, type SafetyState, type Standing, type Traffic } from '../instances/safety.ts'

export interface SafetyInstance extends Standing {
  id: string
  disconnections: Date[]
}

export interface MessageSafety {
  decision: 'allow' | 'warn'
  riskLevel: 'low' | 'medium' | 'high'
  state: SafetyState
  score: number
}

export interface SafetyBook {
  /** Reads what is missing or older than a minute. */
  load: (instanceIds: readonly string[]) => Promise<void>
  /** Counts one more message to `to` and says what that does. */
  judge: (instance: SafetyInstance, to: string, now: Date) => { warnings: string[]; safety: MessageSafety }
}

declare module '../core/app.ts' {
  interface App {
    safety: SafetyBook
  }
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const freshMs = 60_000
/** Traffic is kept by the minute. */
const minuteMs = 60_000

interface Recipient {
  last: number
  cold: boolean
}

interface Window {
  loadedAt: number
  loading: Promise<void> | null
  /** Messages by minute since 1970, oldest first. */
  minutes: Map<number, number>
  outbound1h: number
  outbound24h: number
  recipients: Map<string, Recipient>
  unique1h: number
  cold: number
  /** The minute up to which the sums above are right. */
  minute: number
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

const noTraffic: TrafficRows = {
  instanceId: '',
  recipients: [],
  minutes: [],
  failed24h: 0,
  inboundReplies24h: 0,
  inboundReplies7d: 0,
}

export function createSafetyBook(app: Pick<App, 'pool' | 'log'>): SafetyBook {
  const windows = new Map<string, Window>()

  async function read(ids: readonly string[]): Promise<void> {
    for (const traffic of await readTraffic(app, ids)) windows.set(traffic.instanceId, windowOf(traffic))
    // A process remembers the instances it sends through; the first read go first.
    while (windows.size > 10_000) windows.delete(windows.keys().next().value as string)
  }

  async function load(instanceIds: readonly string[]): Promise<void> {
    const missing: string[] = []
    for (const id of instanceIds) {
      const window = windows.get(id)
      if (!window) missing.push(id)
      else if (Date.now() - window.loadedAt > freshMs && !window.loading) {
        // Known, only not fresh: nobody waits for it.
        window.loading = read([id]).catch((error: Error) => {
          window.loading = null
          window.loadedAt = Date.now()
          app.log.warn({ err: error.message }, 'safety window not read')
        })
      }
    }
    if (missing.length > 0) await read(missing)
  }

  function judge(instance: SafetyInstance, to: string, now: Date): ReturnType<SafetyBook['judge']> {
    const window = windows.get(instance.id) ?? windowOf(noTraffic)
    const cold = count(window, to, now.getTime())
    const traffic = trafficOf(window, instance, now)
    const { state, score, limits } = assess(instance, traffic, now)
    const warnings: string[] = []
    const compare = (name: keyof typeof limits, value: number) => {
      if (value > limits[name]) warnings.push(`${name} exceeded: ${value} of ${limits[name]}`)
    }
    compare('hourlyOutboundCap', traffic.outbound1h)
    compare('dailyOutboundCap', traffic.outbound24h)
    compare('hourlyUniqueRecipientsCap', traffic.uniqueRecipients1h)
    compare('dailyUniqueRecipientsCap', traffic.uniqueRecipients24h)
    const ratio = coldRatio(traffic)
    if (cold && ratio > limits.maxColdRatio) warnings.push(`maxColdRatio exceeded: ${ratio.toFixed(2)} of ${limits.maxColdRatio}`)
    const risky = state === 'at_risk' || state === 'restricted'
    const decision = warnings.length > 0 ? 'warn' : 'allow'
    const riskLevel = decision === 'allow' ? (risky ? 'medium' : 'low') : risky ? 'high' : 'medium'
    return { warnings, safety: { decision, riskLevel, state, score } }
  }

  return { load, judge }
}

/** Adds a message; answers whether its recipient is cold. */
function count(window: Window, to: string, now: number): boolean {
  const minute = Math.floor(now / minuteMs)
  advance(window, minute)
  window.minutes.set(minute, (window.minutes.get(minute) ?? 0) + 1)
  window.outbound1h++
  window.outbound24h++
  const known = window.recipients.get(to)
  if (!known) {
    window.recipients.set(to, { last: now, cold: true })
    window.unique1h++
    window.cold++
    return true
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

function trafficOf(window: Window, instance: Pick<SafetyInstance, 'disconnections'>, now: Date): Traffic {
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

export interface TrafficRows {
  instanceId: string
  recipients: { to: string; last: number; cold: boolean }[]
  minutes: { minute: number; n: number }[]
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

/** The last day's recipients and minutes of instances. A recipient is cold who never wrote and was first written to within it. */
export async function readTraffic(app: Pick<App, 'pool'>, instanceIds: readonly string[]): Promise<TrafficRows[]> {
  const { rows } = await app.pool.query<TrafficRows>({
    name: 'messages.traffic',
    text: `select i.id as "instanceId", t.* from unnest($1::uuid[]) as i(id), lateral (
        with recent as (
          select peer, status, "createdAt" from messages
          where "instanceId" = i.id and direction = 'outbound' and "createdAt" > now() - interval '24 hours'
        ), inbound as (
          select "createdAt" from messages where "instanceId" = i.id and direction = 'inbound' and "createdAt" > now() - interval '7 days'
        )
        select
          coalesce((select json_agg(json_build_object('to', p.peer, 'last', extract(epoch from p.last) * 1000, 'cold', not exists (
            select 1 from messages e
            where e."instanceId" = i.id and e.peer = p.peer and (e.direction = 'inbound' or e."createdAt" <= now() - interval '24 hours')
          )) order by p.last) from (select peer, max("createdAt") as last from recent group by peer) p), '[]') as recipients,
          coalesce((select json_agg(json_build_object('minute', minute, 'n', n) order by minute) from (
            select floor(extract(epoch from "createdAt") / 60)::int as minute, count(*)::int as n from recent group by 1
          ) m), '[]') as minutes,
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

function windowOf(rows: TrafficRows): Window {
  return {
    loadedAt: Date.now(),
    loading: null,
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
