// A window on an instance's traffic: what was read of the last day, counted on as messages are sent.
import type { Traffic } from '../../instances/safety.ts'
import type { TrafficRows } from '../safety/traffic.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Traffic is kept by the minute. */
const minuteMs = 60_000

/** When the connection of an instance dropped, lately. */
interface Dropped {
  disconnections: readonly Date[]
}

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

/** Traffic as of now, from what was read. */
export function trafficAt(rows: TrafficRows, instance: Dropped, now: Date): Traffic {
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

export function trafficOf(window: Window, { disconnections }: Dropped, now: Date): Traffic {
  return {
    outbound1h: window.outbound1h,
    outbound24h: window.outbound24h,
    uniqueRecipients1h: window.unique1h,
    uniqueRecipients24h: window.recipients.size,
    inboundReplies24h: window.inboundReplies24h,
    inboundReplies7d: window.inboundReplies7d,
    failed24h: window.failed24h,
    coldRecipients24h: window.cold,
    disconnections24h: disconnections.filter((at) => now.getTime() - at.getTime() < dayMs).length,
  }
}
