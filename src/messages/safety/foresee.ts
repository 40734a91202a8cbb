// Tells how the safety rules would judge messages that are not sent yet. Nothing is stored, and no cached window changes.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { hourMs } from '../../core/durations.ts'
import { ownTurn } from '../../core/turns.ts'
import { assess, type SafetyState } from '../../instances/safety.ts'
import type { SendingInstance } from '../../instances/sending.sql.ts'
import { markOutsideWindow, warnOutsideWindow } from './free-window.ts'
import { compare, type Judgement } from './safety.ts'
import { readAcquainted, readTraffic } from './traffic.sql.ts'
import { count, spanAround, trafficAt, type Window, windowOf } from './window.ts'

/** A message that would leave. */
export interface Departure {
  to: string
  at: Date
}

const minuteMs = 60_000
/** Messages that are counted before the event loop gets a turn. */
const atOnce = 1_000

export interface Departures {
  instance: SendingInstance
  /** In the order of their times; at most a few thousand. */
  messages: readonly [Departure, ...Departure[]]
  /** True if they go out as a template that the network approved. */
  approved: boolean
  /** The size of their campaign. */
  campaignRecipients?: number
}

/** The judgement with the most warnings that one of these messages would get, after all that leaves around them already. */
export async function foresee(
  app: App,
  sql: Sql,
  { instance, messages, approved, campaignRecipients = 0 }: Departures,
): Promise<Omit<Judgement, 'cold'>> {
  const [first] = messages
  const last = messages.at(-1) ?? first
  const window = await readWindow(app, sql, instance.id, first.at, last.at)
  await markAcquainted(sql, instance.id, window, messages)
  let stranger: string | undefined
  for (const [n, { to, at }] of messages.entries()) {
    if (n % atOnce === atOnce - 1) await ownTurn()
    if (count(window, to, at)) stranger ??= to
  }
  const judged = momentsOf(first.at, last.at).map((at) => compare(window, instance, stranger ?? last.to, at, campaignRecipients))
  const worst = judged.reduce((most, one) => (one.warnings.length >= most.warnings.length ? one : most))
  const template = approved ? {} : null
  const leaving = messages.map(({ to, at }) => ({ principal: instance, instance, to, scheduledAt: at, template }))
  return (await markOutsideWindow(app, sql, leaving)).some(({ outsideWindow }) => outsideWindow)
    ? warnOutsideWindow(worst)
    : worst
}

/** The safety state of the instance at that moment, by what has left and what is queued until then. */
export async function foreseeState(app: App, sql: Sql, instance: SendingInstance, at: Date): Promise<SafetyState> {
  const [rows] = await readTraffic(sql, [spanAround(instance.id, at, 0)], app.config.messageTtlMs)
  if (!rows) throw new Error(`no instance ${instance.id}`)
  return assess(instance, trafficAt(rows, instance, at), at).state
}

async function readWindow({ config }: App, sql: Sql, instanceId: string, from: Date, to: Date): Promise<Window> {
  const span = spanAround(instanceId, from, Math.ceil((to.getTime() - from.getTime()) / minuteMs))
  const [rows] = await readTraffic(sql, [span], config.messageTtlMs)
  if (!rows) throw new Error(`no instance ${instanceId}`)
  return windowOf(rows, span)
}

/** Marks the numbers that the instance knows from before. */
async function markAcquainted(sql: Sql, instanceId: string, window: Window, departures: readonly Departure[]): Promise<void> {
  if (!window.history) return
  const strangers = departures.filter(({ to }) => !window.recipients.has(to))
  const pairs = strangers.map(({ to }) => ({ instanceId, to, from: window.from }))
  for (const { to } of pairs.length > 0 ? await readAcquainted(sql, pairs) : []) window.acquainted.add(to)
}

/** Each hour from the first message to the last one. */
function momentsOf(first: Date, last: Date): [Date, ...Date[]] {
  const hours = Math.floor((last.getTime() - first.getTime()) / hourMs)
  return [first, ...Array.from({ length: hours }, (_, n) => new Date(first.getTime() + (n + 1) * hourMs)), last]
}
