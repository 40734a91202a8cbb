// Tells how the safety rules would judge messages that are not sent yet. Nothing is stored, and no cached window changes.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { ownTurn } from '../../core/turns.ts'
import { compare, type Judgement, type SafetyInstance } from './safety.ts'
import { readAcquainted, readTraffic } from './traffic.sql.ts'
import { count, spanAround, type Window, windowOf } from './window.ts'

/** A message that would leave. */
export interface Departure {
  to: string
  at: Date
}

const hourMs = 3_600_000
const minuteMs = 60_000
/** Messages that are counted before the event loop gets a turn. */
const atOnce = 1_000

/**
 * The judgement with the most warnings that one of these messages would get, after all that leaves around them already. `departures` are in
 * the order of their times, at least one and at most a few thousand; `campaignRecipients` is the size of their campaign.
 */
export async function foresee(
  app: Pick<App, 'config'>,
  sql: Sql,
  instance: SafetyInstance,
  departures: readonly [Departure, ...Departure[]],
  campaignRecipients = 0,
): Promise<Omit<Judgement, 'cold'>> {
  const [first] = departures
  const last = departures.at(-1) ?? first
  const window = await readWindow(app, sql, instance.id, first.at, last.at)
  await meet(sql, instance.id, window, departures)
  let stranger: string | undefined
  for (const [n, { to, at }] of departures.entries()) {
    if (n % atOnce === atOnce - 1) await ownTurn()
    if (count(window, to, at)) stranger ??= to
  }
  const judged = momentsOf(first.at, last.at).map((at) => compare(window, instance, stranger ?? last.to, at, campaignRecipients))
  return judged.reduce((worst, one) => (one.warnings.length >= worst.warnings.length ? one : worst))
}

async function readWindow({ config }: Pick<App, 'config'>, sql: Sql, instanceId: string, from: Date, to: Date): Promise<Window> {
  const span = spanAround(instanceId, from, Math.ceil((to.getTime() - from.getTime()) / minuteMs))
  const [rows] = await readTraffic(sql, [span], config.messageTtlMs)
  if (!rows) throw new Error(`no instance ${instanceId}`)
  return windowOf(rows, span)
}

/** Marks the numbers that the instance knows from before. */
async function meet(sql: Sql, instanceId: string, window: Window, departures: readonly Departure[]): Promise<void> {
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
