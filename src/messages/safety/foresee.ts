// Tells how the safety rules would judge messages that are not sent yet. Nothing is stored, and no cached window changes.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { hourMs } from '../../core/durations.ts'
import { createShare } from '../../core/share.ts'
import { ownTurn } from '../../core/turns.ts'
import { assess, type SafetyState } from '../../instances/safety.ts'
import type { SendingInstance } from '../../instances/sending.sql.ts'
import { markOutsideWindow, warnOutsideWindow } from './free-window.ts'
import { readWholeWindow, readWindow } from './read-window.ts'
import { compare, type Judgement } from './safety.ts'
import { readAcquainted } from './traffic.sql.ts'
import { count, trafficOf, type Window } from './window.ts'

/** A message that would leave. */
export interface Departure {
  to: string
  at: Date
}

/** Messages or recipients that are counted before the event loop gets a turn. */
const atOnce = 1_000

/** Each keeps a connection to the database while it reads the traffic of an instance. */
const previews = createShare({ perCaller: 1, mostWaiting: 20, waitMs: 30_000 })

/**
 * Runs a preview in the turn of its payer, who has one at a time: with 150,000 messages a day it takes half a second.
 * @throws API_RATE_LIMIT_EXCEEDED when too many wait, or one waits for too long; as the work does.
 */
export async function inPreviewTurn<T>(ownerId: string, work: () => Promise<T>): Promise<T> {
  return await previews.during(ownerId, 1, work)
}

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
  const window =
    messages.length === 1
      ? await readWindow(app, sql, instance.id, first.at, [first.to])
      : await readWholeWindow(app, sql, instance.id, first.at, last.at)
  await markAcquainted(sql, instance.id, window, messages)
  let stranger: string | undefined
  for (const [n, { to, at }] of messages.entries()) {
    if (n % atOnce === atOnce - 1) await ownTurn()
    if (count(window, to, at)) stranger ??= to
  }
  const judged: Omit<Judgement, 'cold'>[] = []
  for (const at of momentsOf(first.at, last.at)) {
    if (window.recipients.size > atOnce) await ownTurn()
    judged.push(compare(window, instance, stranger ?? last.to, at, campaignRecipients))
  }
  const worst = judged.reduce((most, one) => (one.warnings.length >= most.warnings.length ? one : most))
  const template = approved ? {} : null
  const leaving = messages.map(({ to, at }) => ({ principal: instance, instance, to, scheduledAt: at, template }))
  return (await markOutsideWindow(app, sql, leaving)).some(({ outsideWindow }) => outsideWindow)
    ? warnOutsideWindow(worst)
    : worst
}

/** The safety state of the instance at that moment, by what has left and what is queued until then. */
export async function foreseeState(app: App, sql: Sql, instance: SendingInstance, at: Date): Promise<SafetyState> {
  const window = await readWindow(app, sql, instance.id, at, [])
  return assess(instance, trafficOf(window, instance, at), at).state
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
