// The departures of one instance around a moment, minute by minute: read once, then updated as messages are accepted.
import { dayMs, minuteMs } from '../../core/durations.ts'
import type { Traffic } from '../../instances/safety.ts'
import type { Span, SummedRows, Sums, TrafficRows } from './traffic.sql.ts'

const hourMinutes = 60
const dayMinutes = 24 * hourMinutes

/** Times of recent disconnections of an instance. */
interface Dropped {
  disconnections: readonly Date[]
}

interface Recipient {
  /** Minutes since 1970 of its departures, in any order. */
  minutes: number[]
  /** The minute of the first message to it, if it was a stranger. */
  coldAt: number | null
}

/** The departures of one instance as far as this process knows. Times are in minutes since 1970, `loadedAt` in milliseconds. */
export interface Window {
  loadedAt: number
  loading: Promise<void> | null
  from: Date
  to: Date
  minutes: Map<number, number>
  recipients: Map<string, Recipient>
  /** True if the instance may know numbers that are not in `recipients`. */
  history: boolean
  /** Numbers that the instance knows from before, and that are not in `recipients` yet. */
  acquainted: Set<string>
  /** The sums of the minutes that were asked for, which are multiples of `stepMinutes`. */
  sums: Map<number, Sums>
  stepMinutes: number
  /** Failed departures by minute. */
  failures: Map<number, number>
  inboundReplies24h: number
  inboundReplies7d: number
}

function minuteOf(at: Date): number {
  return Math.floor(at.getTime() / minuteMs)
}

/** The departures that matter to messages that leave at `at` or up to `aheadMinutes` later. */
export function spanAround(instanceId: string, at: Date, aheadMinutes: number): Span {
  const from = new Date(at.getTime() - dayMs)
  return { instanceId, from, to: new Date(at.getTime() + (hourMinutes + aheadMinutes) * minuteMs) }
}

/** A window that knows its sums at `at` alone, and the recipients that were asked for. */
export function windowAt({ sums, ...rows }: SummedRows, at: Date): Window {
  return { ...windowOf(rows, spanAround(rows.instanceId, at, 0)), sums: new Map([[minuteOf(at), sums]]) }
}

export function windowOf(rows: TrafficRows, { from, to }: Pick<Span, 'from' | 'to'>, stepMinutes = 1): Window {
  const { recipients, minutes, ...counts } = rows
  return {
    ...counts,
    from,
    to,
    loadedAt: Date.now(),
    loading: null,
    acquainted: new Set(),
    minutes: new Map(minutes.map(([minute, n]) => [minute, n])),
    failures: new Map(minutes.flatMap(([minute, , failed]) => (failed > 0 ? [[minute, failed]] : []))),
    recipients: new Map(recipients.map(([to, times, coldAt]) => [to, { minutes: times, coldAt }])),
    sums: new Map(),
    stepMinutes,
  }
}

/** A window that knows nothing yet, and counts as too old to be used again. */
export function emptyWindow(span: Span): Window {
  const { instanceId } = span
  const rows = { instanceId, history: false, recipients: [], minutes: [], inboundReplies24h: 0, inboundReplies7d: 0 }
  return { ...windowOf(rows, span), loadedAt: 0 }
}

function inHour(minute: number, at: number): boolean {
  return minute > at - hourMinutes && minute <= at + hourMinutes
}

function inDay(minute: number, at: number): boolean {
  return minute > at - dayMinutes && minute <= at + hourMinutes
}

/** Counts one more message that leaves at `at`. Returns true if it is the first to a recipient who never wrote. */
export function count(window: Window, to: string, at: Date): boolean {
  return countAs(window, to, at, window.recipients.get(to) ?? null)
}

/** {@link count} for a recipient whom another window knows better. */
export function countKnown(window: Window, to: string, at: Date, { coldAt }: Recipient): void {
  countAs(window, to, at, window.recipients.get(to) ?? { minutes: [], coldAt })
}

function countAs(window: Window, to: string, at: Date, known: Recipient | null): boolean {
  const minute = minuteOf(at)
  window.minutes.set(minute, (window.minutes.get(minute) ?? 0) + 1)
  const recipient = known ?? { minutes: [], coldAt: window.acquainted.delete(to) ? null : minute }
  for (const [moment, sums] of window.sums) {
    if (!inDay(minute, moment)) continue
    sums.outbound24h++
    if (inHour(minute, moment)) {
      sums.outbound1h++
      if (!recipient.minutes.some((other) => inHour(other, moment))) sums.uniqueRecipients1h++
    }
    if (recipient.minutes.some((other) => inDay(other, moment))) continue
    sums.uniqueRecipients24h++
    if (isColdAt(recipient, moment)) sums.coldRecipients24h++
  }
  if (!recipient.minutes.includes(minute)) recipient.minutes.push(minute)
  window.recipients.set(to, recipient)
  return !known && recipient.coldAt !== null
}

/** Notes that the instance knows a number from before. */
export function acquaint(window: Window, to: string): void {
  const recipient = window.recipients.get(to)
  if (!recipient) {
    window.acquainted.add(to)
    return
  }
  recipient.coldAt = null
  window.sums.clear()
}

function isColdAt({ coldAt }: Recipient, at: number): boolean {
  return coldAt !== null && inDay(coldAt, at)
}

/** True if the recipient was a stranger until a message of the 24 hours before `at`, or of the hour after it. */
export function isCold(window: Window, to: string, at: Date): boolean {
  const recipient = window.recipients.get(to)
  return recipient !== undefined && isColdAt(recipient, minuteOf(at))
}

/** The sums at a minute, computed at its first use and then kept up to date by {@link count}. */
function sumsAt(window: Window, exactly: number): Sums {
  const at = exactly - (exactly % window.stepMinutes)
  const kept = window.sums.get(at)
  if (kept) return kept
  const sums: Sums = {
    outbound1h: 0,
    outbound24h: 0,
    uniqueRecipients1h: 0,
    uniqueRecipients24h: 0,
    coldRecipients24h: 0,
    failed24h: 0,
  }
  for (const [minute, n] of window.minutes) {
    if (inHour(minute, at)) sums.outbound1h += n
    if (inDay(minute, at)) sums.outbound24h += n
  }
  for (const [minute, n] of window.failures) if (inDay(minute, at)) sums.failed24h += n
  for (const recipient of window.recipients.values()) {
    if (recipient.minutes.some((minute) => inHour(minute, at))) sums.uniqueRecipients1h++
    if (!recipient.minutes.some((minute) => inDay(minute, at))) continue
    sums.uniqueRecipients24h++
    if (isColdAt(recipient, at)) sums.coldRecipients24h++
  }
  window.sums.set(at, sums)
  // A window would collect the minutes that are asked for.
  if (window.sums.size > hourMinutes) window.sums.delete(window.sums.keys().next().value as number)
  return sums
}

export function trafficOf(window: Window, { disconnections }: Dropped, at: Date): Traffic {
  return {
    ...sumsAt(window, minuteOf(at)),
    inboundReplies24h: window.inboundReplies24h,
    inboundReplies7d: window.inboundReplies7d,
    disconnections24h: disconnections.filter((time) => at.getTime() - time.getTime() < dayMs).length,
  }
}
