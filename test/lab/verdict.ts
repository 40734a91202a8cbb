// The verdict of a run: promises kept or broken, and the durations of recoveries.
import type pg from 'pg'
import { type Expected, findBroken, untilAtRest } from '../kit/broken.ts'
import { until } from '../kit/until.ts'
import type { Fault } from './faults.ts'
import { type Reader, type Receiver, type Sending, webhookEvents } from './load.ts'

export interface Run {
  pool: pg.Pool
  workspaceId: string
  sending: Sending
  readers: readonly Reader[]
  receiver: Receiver
  faults: readonly Fault[]
  startedAt: number
}

export interface Line {
  what: string
  value: string
  /** Undefined for a figure that is no promise. */
  kept?: boolean
}

/** Longest time until everything that was sent is at rest. */
const restMs = 120_000

/** Waits for rest, compares the clients' records with the log, and ends the readers. */
export async function judge({ pool, workspaceId, sending, readers, receiver, faults, startedAt }: Run): Promise<Line[]> {
  await untilAtRest(pool, restMs)
  const { rows: logged } = await pool.query<{ id: string; type: string }>(
    'select id, type from events where "workspaceId" = $1 order by seq',
    [workspaceId],
  )
  const ids = logged.map(({ id }) => id)
  const last = ids.at(-1)
  await until(() => readers.every((reader) => reader.ids.at(-1) === last), { timeoutMs: restMs }).catch(() => {})
  const wanted = logged.filter(({ type }) => webhookEvents.includes(type)).map(({ id }) => id)
  await until(() => wanted.every((id) => receiver.received.has(id)), { timeoutMs: restMs }).catch(() => {})
  await Promise.all(readers.map((reader) => reader.stop()))
  const acknowledged = sending.acknowledged
  const broken = await findBroken(pool, { acknowledged, messages: acknowledged.length } satisfies Expected)
  const swapped = await countSwapped(pool, workspaceId)
  const wrong = readers.map((reader) => differenceOf(ids, reader.ids))
  const missing = wanted.filter((id) => !receiver.received.has(id)).length
  const lags = readers.flatMap((reader) => reader.lags)
  const refused = [...sending.refused.entries()].map(([said, n]) => `${n} × ${said}`)
  return [
    { what: 'acknowledged messages', value: String(acknowledged.length) },
    { what: 'faults', value: summaryOf(faults) },
    { what: 'invariants of the database', value: broken.join('\n') || 'hold', kept: broken.length === 0 },
    { what: 'messages to one number out of order', value: String(swapped), kept: swapped === 0 },
    { what: 'refused without reason', value: refused.join(', ') || '0', kept: refused.length === 0 },
    ...wrong.map(({ missed, repeated, misplaced }, n) => ({
      what: `reader ${n + 1}: missed, repeated, out of order`,
      value: `${missed}, ${repeated}, ${misplaced} of ${ids.length}; ${readers[n]?.reconnects ?? 0} reconnections`,
      kept: missed + repeated + misplaced === 0,
    })),
    { what: 'events that no webhook brought', value: `${missing} of ${wanted.length}`, kept: missing === 0 },
    { what: 'longest time without a success', value: seconds(longestGap([startedAt, ...sending.at])) },
    { what: 'after a fault, the next success came after (slowest)', value: slowestRecovery(faults, sending.at) },
    { what: 'event to reader, p50 and slowest', value: `${seconds(at(lags, 0.5))}, ${seconds(at(lags, 1))}` },
  ]
}

/** Pairs of messages to the same number that left in another order than they were accepted in. */
async function countSwapped(pool: pg.Pool, workspaceId: string): Promise<number> {
  const { rows } = await pool.query<{ n: number }>(
    `select count(*)::int as n from (
       select "sentAt", lag("sentAt") over (partition by "instanceId", "to" order by id) as before
       from messages where "workspaceId" = $1 and "sentAt" is not null) m
     where "sentAt" < before`,
    [workspaceId],
  )
  return rows[0]?.n ?? 0
}

export function differenceOf(
  logged: readonly string[],
  seen: readonly string[],
): { missed: number; repeated: number; misplaced: number } {
  const places = new Map(logged.map((id, place) => [id, place]))
  const known = new Set<string>()
  let [repeated, misplaced, furthest] = [0, 0, -1]
  for (const id of seen) {
    const place = places.get(id) ?? -1
    if (known.has(id)) repeated++
    else if (place < furthest) misplaced++
    known.add(id)
    furthest = Math.max(furthest, place)
  }
  return { missed: logged.filter((id) => !known.has(id)).length, repeated, misplaced }
}

function summaryOf(faults: readonly Fault[]): string {
  const counts = new Map<string, number>()
  for (const { name } of faults) counts.set(name, (counts.get(name) ?? 0) + 1)
  return [...counts].map(([name, n]) => `${n} × ${name}`).join(', ') || 'none'
}

function longestGap(times: readonly number[]): number {
  return Math.max(0, ...times.slice(1).map((time, n) => time - (times[n] as number)))
}

function slowestRecovery(faults: readonly Fault[], successes: readonly number[]): string {
  const worst = new Map<string, number>()
  for (const { name, at } of faults) {
    const next = successes.find((time) => time > at)
    if (next !== undefined) worst.set(name, Math.max(worst.get(name) ?? 0, next - at))
  }
  return [...worst].map(([name, ms]) => `${name} ${seconds(ms)}`).join(', ') || '-'
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
