// Safety assessment of sends without a database query per message. Each process caches the departures of the instances it sends through:
// those around the present, and those around each day for which a message is scheduled. It reads them again every minute, so that the
// sends of other processes count too.

import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { dayMs, minuteMs } from '../../core/durations.ts'
import { withoutBudget } from '../../core/graph/budget.ts'
import { definePart } from '../../core/part.ts'
import { createShare } from '../../core/share.ts'
import { assess, coldRatio, type SafetyState, type Standing } from '../../instances/safety.ts'
import { type Pair, readAcquainted, readTraffic, type Span } from './traffic.sql.ts'
import { acquaint, count, countKnown, emptyWindow, isCold, spanAround, trafficOf, type Window, windowOf } from './window.ts'

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

export interface Judgement {
  warnings: string[]
  safety: MessageSafety
  /** True for the first message to a recipient who never wrote. */
  cold: boolean
}

export interface Judged extends Pair {
  /** When it leaves; null means now. */
  scheduledAt?: Date | null
  /** True if it was judged before and leaves now: its recipient may not be a stranger any more. */
  again?: boolean
}

export interface SafetyCache {
  /**
   * Reads the windows that {@link SafetyCache.load} would read, in the turn of their payer, before the messages join a batch with those of
   * other accounts: the window of an instance with very many messages takes a second.
   */
  prepare: (messages: readonly Judged[], ownerId: string) => Promise<void>
  /** Loads what is missing or old to judge these messages. */
  load: (messages: readonly Judged[], sql?: Sql) => Promise<void>
  /** Counts one more message and judges it. `campaignRecipients` is the size of its campaign. */
  judge: (instance: SafetyInstance, message: Omit<Judged, 'instanceId'>, now: Date, campaignRecipients?: number) => Judgement
  /** Judges a message that was counted when it was accepted, as it leaves. `cold` is false if its recipient is known by now. */
  judgeAgain: (instance: SafetyInstance, to: string, now: Date) => Judgement
  /**
   * Reads the departures of an instance again before the next judgement, because messages were withdrawn. With `numbers`, only where one of
   * these numbers is among the recipients.
   */
  forget: (instanceId: string, numbers?: readonly string[]) => void
}

const freshMs = 60_000
/** A window of this age is read again before it is used; a younger one serves while it is read again in the background. */
const staleMs = 2 * freshMs
/** Windows with more recipients than this are always read in the background: reading them takes a moment. */
const large = 5_000
const mostInstances = 10_000
/** Most days of one instance that are cached, and read at once. Messages for further days are judged by what their own batch has. */
const mostDays = 100

/** Windows that payers read, one at a time each, and those that are read in the background. */
const reading = { perCaller: 1, mostWaiting: 1_000, waitMs: 30_000 }

const present = 'present'
type Day = number | typeof present

interface Asked {
  instanceId: string
  day: Day
}

function keyOf({ instanceId, day }: Asked): string {
  return `${instanceId} ${day}`
}

export const safetyCache = definePart(createSafetyCache)

function dayOf(scheduledAt: Date | null | undefined): Day {
  return scheduledAt ? Math.floor(scheduledAt.getTime() / dayMs) : present
}

function spanOf(instanceId: string, day: Day): Span {
  // The window of the present serves until it is stale, the one of a day for each of its minutes.
  if (day === present) return spanAround(instanceId, new Date(), staleMs / minuteMs)
  return spanAround(instanceId, new Date(day * dayMs), dayMs / minuteMs)
}

function createSafetyCache(app: Pick<App, 'pool' | 'log' | 'config'>): SafetyCache {
  const byInstance = new Map<string, Map<Day, Window>>()
  const payers = createShare(reading)
  const background = createShare({ ...reading, total: 2 })

  function windowAt(instanceId: string, day: Day): Window {
    const windows = byInstance.get(instanceId) ?? new Map<Day, Window>()
    byInstance.set(instanceId, windows)
    const window = windows.get(day) ?? emptyWindow(spanOf(instanceId, day))
    windows.set(day, window)
    return window
  }

  async function read(asked: readonly Asked[], sql: Sql): Promise<void> {
    const spans = asked.map(({ instanceId, day }) => spanOf(instanceId, day))
    const found = new Map<string, Window>()
    for (const { position, ...rows } of await readTraffic(sql, spans, app.config.messageTtlMs)) {
      const { instanceId, day } = asked[position] as Asked
      // Its sums at one minute take 5 ms with 150,000 recipients, and a bulk may name each minute of a day.
      const isCoarse = day !== present && rows.recipients.length > large
      found.set(keyOf({ instanceId, day }), windowOf(rows, spans[position] as Span, isCoarse ? 60 : 1))
    }
    for (const { instanceId, day } of asked) {
      const window = found.get(keyOf({ instanceId, day }))
      // Callers may name many instances that do not exist, which would displace those of others.
      if (!window) continue
      const windows = byInstance.get(instanceId) ?? new Map<Day, Window>()
      byInstance.set(instanceId, windows.set(day, window))
      // Bounds the cache; the oldest entry is dropped first.
      while (windows.size > mostDays) windows.delete(windows.keys().next().value as Day)
    }
    while (byInstance.size > mostInstances) byInstance.delete(byInstance.keys().next().value as string)
  }

  /** Reads a window again in the background, while callers use the old one. */
  function refresh(instanceId: string, day: Day, window: Window): void {
    const again = () => background.during(instanceId, 1, () => read([{ instanceId, day }], app.pool))
    window.loading ??= again().catch((error: Error) => {
      window.loading = null
      window.loadedAt = Date.now()
      app.log.warn({ err: error.message }, 'safety window not read')
    })
  }

  async function prepare(messages: readonly Judged[], ownerId: string): Promise<void> {
    if (missingFor(messages).length === 0) return
    await payers.during(ownerId, 1, async () => {
      // The request before may have read them.
      const missing = missingFor(messages)
      if (missing.length > 0) await withoutBudget(() => read(missing, app.pool))
    })
  }

  async function load(messages: readonly Judged[], sql: Sql = app.pool): Promise<void> {
    const missing = missingFor(messages)
    if (missing.length > 0) await read(missing, sql)
    await addAcquainted(messages, sql)
  }

  /** The windows that must be read before these messages can be judged. Those that are only old are read in the background. */
  function missingFor(messages: readonly Judged[]): Asked[] {
    const missing: Asked[] = []
    for (const [instanceId, list] of Map.groupBy(messages, (message) => message.instanceId)) {
      const days = new Set(list.map(({ scheduledAt }) => dayOf(scheduledAt)))
      for (const day of [...days].slice(0, mostDays)) {
        const window = byInstance.get(instanceId)?.get(day)
        const ageMs = window ? Date.now() - window.loadedAt : Number.POSITIVE_INFINITY
        if (!window || (ageMs > staleMs && window.recipients.size <= large)) missing.push({ instanceId, day })
        else if (ageMs > freshMs) refresh(instanceId, day, window)
      }
    }
    return missing
  }

  /** Looks up which recipients the instance wrote to before its window. */
  async function addAcquainted(messages: readonly Judged[], sql: Sql): Promise<void> {
    const strangers = messages.flatMap(({ instanceId, to, scheduledAt, again }) => {
      const window = byInstance.get(instanceId)?.get(dayOf(scheduledAt))
      const recipient = window?.recipients.get(to)
      const isStranger = again ? recipient && recipient.coldAt !== null : !recipient
      return window?.history && isStranger ? [{ instanceId, to, from: window.from, window }] : []
    })
    if (strangers.length === 0) return
    const acquainted = new Set((await readAcquainted(sql, strangers)).map(({ instanceId, to }) => `${instanceId} ${to}`))
    for (const { instanceId, to, window } of strangers) if (acquainted.has(`${instanceId} ${to}`)) acquaint(window, to)
  }

  function judge(
    instance: SafetyInstance,
    { to, scheduledAt }: Omit<Judged, 'instanceId'>,
    now: Date,
    campaignRecipients = 0,
  ): Judgement {
    const at = scheduledAt ?? now
    const own = windowAt(instance.id, dayOf(scheduledAt))
    const cold = count(own, to, at)
    // The other windows of the instance see this departure too, as far as they reach.
    const known = own.recipients.get(to)
    for (const window of byInstance.get(instance.id)?.values() ?? []) {
      if (known && window !== own && at > window.from && at <= window.to) countKnown(window, to, at, known)
    }
    return { cold, ...compare(own, instance, to, at, campaignRecipients) }
  }

  function judgeAgain(instance: SafetyInstance, to: string, now: Date): Judgement {
    const window = windowAt(instance.id, present)
    return { cold: window.recipients.get(to)?.coldAt !== null, ...compare(window, instance, to, now, 0) }
  }

  function forget(instanceId: string, numbers?: readonly string[]): void {
    for (const window of byInstance.get(instanceId)?.values() ?? []) {
      if (numbers && !numbers.some((to) => window.recipients.has(to))) continue
      // It stays for messages that were loaded and are not judged yet: an empty one would exceed no cap.
      window.loadedAt = window.recipients.size <= large ? 0 : Math.min(window.loadedAt, Date.now() - freshMs - 1)
    }
  }

  return { prepare, load, judge, judgeAgain, forget }
}

/** Compares what leaves around `at` with the caps of the instance. */
export function compare(
  window: Window,
  instance: SafetyInstance,
  to: string,
  at: Date,
  campaignRecipients: number,
): Omit<Judgement, 'cold'> {
  const traffic = trafficOf(window, instance, at)
  const { state, score, caps } = assess(instance, traffic, at)
  const warnings: string[] = []
  const check = (name: keyof typeof caps, value: number) => {
    if (value > caps[name]) warnings.push(`${name} exceeded: ${value} of ${caps[name]}`)
  }
  check('hourlyOutboundCap', traffic.outbound1h)
  check('dailyOutboundCap', traffic.outbound24h)
  check('hourlyUniqueRecipientsCap', traffic.uniqueRecipients1h)
  check('dailyUniqueRecipientsCap', traffic.uniqueRecipients24h)
  check('maxCampaignRecipients', campaignRecipients)
  const ratio = coldRatio(traffic)
  if (isCold(window, to, at) && ratio > caps.maxColdRatio) {
    const [now, most] = [ratio, caps.maxColdRatio].map((share) => `${Math.round(100 * share)} %`)
    warnings.push(`maxColdRatio exceeded: ${now} of the recipients of 24 hours never wrote to you; at most ${most} should`)
  }
  return { warnings, safety: safetyWith(warnings, state, score) }
}

/** The assessment of a message with these warnings. */
export function safetyWith(warnings: readonly string[], state: SafetyState, score: number): MessageSafety {
  const risky = state === 'at_risk' || state === 'restricted'
  const decision = warnings.length > 0 ? 'warn' : 'allow'
  const riskLevel = decision === 'allow' ? (risky ? 'medium' : 'low') : risky ? 'high' : 'medium'
  return { decision, riskLevel, state, score }
}
