// Scenes in which a worker is killed or frozen at a commit boundary of a send, and another takes over.
import { expect } from 'vitest'
import { sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { openStage, plainNumber, type Stage, sendAll, text } from './rig.ts'

/** A message: its state when its worker broke, and its end. */
export interface Sent {
  kind: 'Sure' | 'Blind'
  /** Its state when the worker broke: not taken by a worker, taken, offered to the network, or committed as accepted. */
  left: 'queued' | 'claimed' | 'offered' | 'committed'
  /** Its status, its error, and how often it was offered to the network. */
  end: string
  acceptedAt: Date | null
}

export interface Scene {
  sent: Sent[]
  /** When the worker died or froze, by the clock of the database. */
  brokenAt: Date
  /** How many writes of the frozen worker were refused because they came too late. */
  fencedWrites: number
}

/** So long that receipts come after the job has returned, even on a busy machine: then only a second offer helps. */
export const slow = { SANDBOX_LATENCY_MS: '20000' }
export const three = (kind: 'sure' | 'blind') => Array<'sure' | 'blind'>(3).fill(kind)
type Kinds = readonly ('sure' | 'blind')[]

/** A worker dies at `failpoint`; a second worker, resumed right after, takes over. */
export function kill(failpoint: string, env: Record<string, string>, kinds: Kinds): () => Promise<Scene> {
  return async () => {
    const { stage, ids, doomed, heir } = await setUp({ FAILPOINT: `${failpoint}=kill`, ...env }, env, kinds)
    expect((await doomed.exited).signal).toBe('SIGKILL')
    const { left, brokenAt } = await look(stage)
    heir.kill('SIGCONT')
    await expectInvariants(stage.databaseUrl, { acknowledged: await ids, messages: kinds.length })
    return { sent: await sentOf(stage, left), brokenAt, fencedWrites: 0 }
  }
}

/** A worker freezes at `failpoint` with messages in the state `wanted`, and goes on after another worker has settled them. */
export function freeze(failpoint: string, env: Record<string, string>, wanted: Sent['left'], kinds: Kinds): () => Promise<Scene> {
  return async () => {
    const { stage, ids, doomed, heir } = await setUp({ FAILPOINT: `${failpoint}=sleep:12000`, ...env }, env, kinds)
    const acknowledged = await ids
    // After a moment only messages that sleep at the failpoint are left, and no statement is running.
    let before = ''
    await until(
      async () => {
        const now = [...(await look(stage)).left.values()]
        const steady = now.join() === before && now.length === kinds.length && now.includes(wanted)
        before = now.join()
        return steady && now.every((left) => left === wanted || left === 'committed')
      },
      { everyMs: 300 },
    )
    doomed.kill('SIGSTOP')
    const { left, brokenAt } = await look(stage)
    heir.kill('SIGCONT')
    const open = `select from messages where "acceptedAt" is null and status <> 'failed'`
    await until(async () => (await sql(stage.databaseUrl).query(open)).rowCount === 0)
    doomed.kill('SIGCONT')
    const late = [...left.values()].filter((state) => state !== 'committed').length
    const fencedWrites = await until(async () => {
      const text = await (await fetch(`${doomed.url}/metrics`)).text()
      const count = Number(text.match(/^gateway_fenced_writes_total (\d+)$/m)?.[1])
      return count >= late && count
    })
    await expectInvariants(stage.databaseUrl, { acknowledged, messages: kinds.length })
    return { sent: await sentOf(stage, left), brokenAt, fencedWrites }
  }
}

interface Cast {
  stage: Stage
  /** Settles when the bulk is answered, at the latest after the death of the gateway that accepted it. */
  ids: Promise<string[]>
  doomed: Gateway
  heir: Gateway
}

let starting: Promise<unknown> = Promise.resolve()

/** Scenes start one after the other, so that they do not all need the processors at once, and then run concurrently. */
async function setUp(env: Record<string, string>, heirEnv: Record<string, string>, kinds: Kinds): Promise<Cast> {
  const stage = await openStage()
  const started = starting.then(() => Promise.all([stage.start(env), stage.start(heirEnv)]))
  starting = started.catch(() => {})
  const [doomed, heir] = await started
  // The second worker must not take the jobs first.
  heir.kill('SIGSTOP')
  // A message to a number that ends in 0005 stays `sent`, so that the test need not wait for slow networks.
  const bodies = kinds.map((kind) => text(stage[kind], `${plainNumber().slice(0, -4)}0005`))
  let alive = true
  void doomed.exited.then(() => {
    alive = false
  })
  const ids = sendAll(stage.account, () => (alive ? doomed : heir), bodies)
  ids.catch(() => {})
  return { stage, ids, doomed, heir }
}

/** The current state of the messages. */
async function look(stage: Stage): Promise<{ left: Map<string, Sent['left']>; brokenAt: Date }> {
  const { rows } = await sql(stage.databaseUrl).query<{ id: string; left: Sent['left']; now: Date }>(
    `select m.id, clock_timestamp() as now, case when m."acceptedAt" is not null then 'committed' when s.reference is not null then 'offered'
       when m."leaseToken" is not null then 'claimed' else 'queued' end as left
     from messages m left join sandbox_messages s on s.reference = m.id::text order by m.id`,
  )
  return { left: new Map(rows.map(({ id, left }) => [id, left])), brokenAt: rows[0]?.now ?? new Date() }
}

async function sentOf(stage: Stage, left: ReadonlyMap<string, Sent['left']>): Promise<Sent[]> {
  const { rows } = await sql(stage.databaseUrl).query<Omit<Sent, 'left'> & { id: string }>(
    `select m.id, i.name as kind, m."acceptedAt", concat_ws(' ', m.status, m.error, coalesce(s.offers, 0) || 'x') as end
     from messages m join instances i on i.id = m."instanceId" left join sandbox_messages s on s.reference = m.id::text`,
  )
  return rows.map(({ id, ...row }) => ({ ...row, left: left.get(id) ?? 'queued' }))
}

/** The ends of the messages of one kind that were left in one state; there must be at least one message. */
export function ends({ sent }: Scene, kind: Sent['kind'], left: Sent['left']): string {
  const list = sent.filter((message) => message.kind === kind && message.left === left).map(({ end }) => end)
  return [...new Set(list)].join(', ') || `no ${kind} message was ${left}: ${JSON.stringify(sent)}`
}

/** Seconds from the break to the last acceptance. */
export function resumedAfter({ sent, brokenAt }: Scene): number {
  const at = sent.flatMap(({ acceptedAt }) => (acceptedAt ? [acceptedAt.getTime() - brokenAt.getTime()] : []))
  return Math.max(...at) / 1000
}

/** Plays all scenes concurrently, because the jobs of a dead worker return after ten seconds. */
export async function playAll<Name extends string>(scenes: Record<Name, () => Promise<Scene>>): Promise<Record<Name, Scene>> {
  const names = Object.keys(scenes) as Name[]
  const played = await Promise.all(names.map(async (name) => [name, await scenes[name]()] as const))
  return Object.fromEntries(played) as Record<Name, Scene>
}
