// Sliding window over an instance's traffic of the last 24 hours: loaded once, then updated as messages are sent.
import type { Traffic } from '../../instances/safety.ts'
import type { TrafficRows } from '../safety/traffic.sql.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Granularity of the counts. */
const minuteMs = 60_000

/** Times of recent disconnections of an instance. */
interface Dropped {
  disconnections: readonly Date[]
}

interface Recipient {
  last: number
  cold: boolean
}

/** The traffic of one instance as far as this process knows. `loadedAt` is in milliseconds since 1970. */
export interface Window {
  loadedAt: number
  loading: Promise<void> | null
  /** Messages per minute, by minutes since 1970, oldest first. */
  minutes: Map<number, number>
  outbound1h: number
  outbound24h: number
  recipients: Map<string, Recipient>
  /** True if the instance may know recipients from before the last 24 hours. */
  history: boolean
  /** Recipients known from before the last 24 hours that have been looked up and are not in `recipients` yet. */
  acquainted: Set<string>
  unique1h: number
  cold: number
  /** The minute for which the sums above are current. */
  minute: number
  failed24h: number
  inboundReplies24h: number
  inboundReplies7d: number
}

/** The traffic at `now`, computed from database rows. */
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

/** Counts one more message. Returns whether its recipient is cold. */
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
  // Deletes the recipient first, because `set` alone would not move it: the map stays in the order of the last message.
  window.recipients.delete(to)
  window.recipients.set(to, { ...known, last: now })
  return known.cold
}

/** Drops what has left the window. Does its work once a minute, not once per message. */
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
