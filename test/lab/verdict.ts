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
  // A campaign tells its end some time after its last message has left.
  const running = `select from campaigns where status in ('scheduled', 'running')`
  await until(async () => (await pool.query(running)).rowCount === 0, { timeoutMs: restMs })
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
  const broken = await findBroken(pool, { acknowledged, messages: acknowledged.length + sending.recipients } satisfies Expected)
  const swapped = await findSwapped(pool, workspaceId)
  const wrong = readers.map((reader) => differenceOf(ids, reader.ids))
  const missing = wanted.filter((id) => !receiver.received.has(id)).length
  const lags = readers.flatMap((reader) => reader.lags)
  const refused = listOf(sending.posts.refused)
  return [
    { what: 'acknowledged messages', value: String(acknowledged.length) },
    { what: 'recipients of acknowledged campaigns', value: String(sending.recipients) },
    { what: 'faults', value: summaryOf(faults) },
    { what: 'invariants of the database', value: broken.join('\n') || 'hold', kept: broken.length === 0 },
    { what: 'messages to one number out of order', value: exampleOf(swapped), kept: swapped.length === 0 },
    { what: 'refused without reason', value: refused || '0', kept: refused === '' },
    ...wrong.map(({ missed, repeated, misplaced }, n) => ({
      what: `reader ${n + 1}: missed, repeated, out of order`,
      value: `${missed}, ${repeated}, ${misplaced} of ${ids.length}; ${readers[n]?.reconnects ?? 0} reconnections`,
      kept: missed + repeated + misplaced === 0,
    })),
    { what: 'events that no webhook brought', value: `${missing} of ${wanted.length}`, kept: missing === 0 },
    attemptsLine(sending, faults),
    ...pauseLines({ sending, readers, receiver, faults, startedAt }),
    { what: 'accepted to sent, p50, p99 and slowest', value: threeOf(await readDelays(pool, workspaceId)) },
    { what: 'event to reader, p50, p99 and slowest', value: threeOf(lags) },
  ]
}

interface Swapped {
  id: string
  /** The message before it to the same number, which left after it. */
  earlier: string
}

/**
 * Messages that left before one to the same number that was accepted earlier, by the record of the network or by their events. `sentAt` does
 * not tell: it has the time of the first receipt that was applied, which may be that of the delivery.
 */
export async function findSwapped(pool: Pick<pg.Pool, 'query'>, workspaceId: string): Promise<Swapped[]> {
  const { rows } = await pool.query<Swapped>(
    `select * from (
       select m.id, m."to", m.attempts, m."handedAt", s."acceptedAt" as "takenAt", m."sentAt", e.seq, lag(m.id) over w as earlier,
         lag(m.attempts) over w as "earlierAttempts", lag(m."handedAt") over w as "earlierHandedAt", lag(s."acceptedAt") over w as "earlierTakenAt",
         lag(m."sentAt") over w as "earlierSentAt", lag(e.seq) over w as "earlierSeq"
       from messages m join sandbox_messages s on s.reference = m.id::text join events e on e."messageId" = m.id and e.type = 'message.sent'
       where m."workspaceId" = $1
       window w as (partition by m."instanceId", m."to" order by m."createdAt", m.id)) s
     where "takenAt" < "earlierTakenAt" or seq < "earlierSeq"`,
    [workspaceId],
  )
  return rows
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

function exampleOf(found: readonly unknown[]): string {
  return found.length === 0 ? '0' : `${found.length}, for example ${JSON.stringify(found[0])}`
}

function summaryOf(faults: readonly Fault[]): string {
  const counts = new Map<string, number>()
  for (const { name } of faults) counts.set(name, (counts.get(name) ?? 0) + 1)
  return listOf(counts) || 'none'
}

function listOf(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, n]) => `${n} × ${name}`).join(', ')
}

/** A client that repeats a request once sees nothing of a rolling upgrade. */
function attemptsLine({ posts: { mostAttempts, repeated } }: Sending, faults: readonly Fault[]): Line {
  const reasons = listOf(repeated)
  const value = `${mostAttempts}${reasons && `; repeated after ${reasons}`}`
  const line = { what: 'attempts that one request took, at most', value }
  const isUpgrade = faults.length > 0 && faults.every(({ name }) => name === 'rolling upgrade')
  return isUpgrade ? { ...line, kept: mostAttempts <= 2 } : line
}

/** The longest time between two successes of each kind of client: in all, and during each kind of fault. */
function pauseLines({ sending, readers, receiver, faults, startedAt }: Omit<Run, 'pool' | 'workspaceId'>): Line[] {
  const clients = {
    sends: [sending.at],
    streams: readers.filter(({ singleConnection }) => !singleConnection).map((reader) => reader.at),
    'streams of one connection': readers.filter((reader) => reader.singleConnection).map((reader) => reader.at),
    webhooks: [receiver.at],
  }
  const end = sending.at.at(-1) ?? startedAt
  return Object.entries(clients).map(([what, all]) => {
    const gaps = all.flatMap((times) => gapsOf([startedAt, ...times.filter((time) => time <= end)]))
    const longest = (from: number, to: number) =>
      Math.max(0, ...gaps.filter((gap) => gap.to > from && gap.from < to).map((gap) => gap.to - gap.from))
    const byFault = new Map<string, number>()
    for (const { name, from, to } of faults) byFault.set(name, Math.max(byFault.get(name) ?? 0, longest(from, to)))
    const named = [...byFault].map(([name, ms]) => `${name} ${seconds(ms)}`)
    return { what: `longest pause of ${what}`, value: [seconds(longest(startedAt, end)), ...named].join(', ') }
  })
}

function gapsOf(times: readonly number[]): { from: number; to: number }[] {
  return times.slice(1).map((to, n) => ({ from: times[n] as number, to }))
}

/** From the acceptance of each message to a plain number until it was sent, in milliseconds. */
async function readDelays(pool: pg.Pool, workspaceId: string): Promise<number[]> {
  const { rows } = await pool.query<{ ms: number }>(
    `select extract(epoch from "sentAt" - "createdAt")::float8 * 1000 as ms from messages
     where "workspaceId" = $1 and "sentAt" is not null and right("to", 4) = '5555'`,
    [workspaceId],
  )
  return rows.map(({ ms }) => ms)
}

function threeOf(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => seconds(at(values, share))).join(', ')
}

function at(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
