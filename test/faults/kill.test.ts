// Workers killed and frozen at each commit boundary of a send. All scenes run side by side, because a dead worker's jobs
// take ten seconds to come back.
import { beforeAll, expect, it } from 'vitest'
import { expectInvariants } from '../kit/invariants.ts'
import { type Gateway, sql, until } from '../kit/kit.ts'
import { openStage, plainNumber, type Stage, sendAll, text } from './rig.ts'

interface Sent {
  id: string
  kind: 'Sure' | 'Blind'
  status: string
  error: string | null
  /** How often the network was offered it; 0 when never. */
  offers: number
  acceptedAt: Date | null
}

interface Scene {
  sent: Sent[]
  /** When the worker died or froze, by the database's clock. */
  brokenAt: Date
  /** What a worker that came back wrote too late. */
  fencedWrites: number
}

/** Long enough for a network's receipts to come after the job has come back: then only offering it again helps. */
const slow = { SANDBOX_LATENCY_MS: '13000' }
const scenes = {
  beforeProvider: kill('send.before_provider', {}),
  afterAccept: kill('send.after_provider_accept', slow),
  afterCommit: kill('send.after_commit_before_ack', {}),
  frozenBeforeOffer: freeze('send.after_claim', {}, ['sure', 'sure', 'blind', 'blind']),
  frozenAfterAccept: freeze('send.after_provider_accept', slow, ['sure']),
}
const played = {} as Record<keyof typeof scenes, Scene>

beforeAll(async () => {
  await Promise.all(
    Object.entries(scenes).map(async ([name, play]) => {
      played[name as keyof typeof scenes] = await play()
    }),
  )
}, 120_000)

/** A worker dies at `failpoint` while another, woken right after, is there to take over. */
function kill(failpoint: string, env: Record<string, string>): () => Promise<Scene> {
  return async () => {
    const { stage, ids, doomed, heir } = await setUp({ FAILPOINT: `${failpoint}=kill`, ...env }, env, [
      'sure',
      'sure',
      'sure',
      'blind',
      'blind',
      'blind',
    ])
    expect((await doomed.exited).signal).toBe('SIGKILL')
    const brokenAt = await databaseNow(stage)
    heir.kill('SIGCONT')
    await expectInvariants(stage.databaseUrl, { acknowledged: await ids, messages: 6 })
    return { sent: await sentOf(stage), brokenAt, fencedWrites: 0 }
  }
}

/** A worker stands still from `failpoint` on until its messages are another's business, and then goes on. */
function freeze(failpoint: string, env: Record<string, string>, kinds: readonly ('sure' | 'blind')[]): () => Promise<Scene> {
  return async () => {
    const { stage, ids, doomed, heir } = await setUp({ FAILPOINT: `${failpoint}=sleep:3000`, ...env }, env, kinds)
    const acknowledged = await ids
    await until(async () => {
      const { rows } = await sql(stage.databaseUrl).query(`select from messages where status = 'sending'`)
      const { rows: offered } = await sql(stage.databaseUrl).query('select from sandbox_messages')
      return rows.length === kinds.length && (failpoint === 'send.after_claim' || offered.length > 0)
    })
    doomed.kill('SIGSTOP')
    const brokenAt = await databaseNow(stage)
    heir.kill('SIGCONT')
    // Nobody has accepted or failed what only the frozen one holds before another has dealt with it.
    await until(
      async () =>
        (await sql(stage.databaseUrl).query(`select from messages where "acceptedAt" is null and status <> 'failed'`))
          .rowCount === 0,
      {
        timeoutMs: 30_000,
      },
    )
    doomed.kill('SIGCONT')
    const fencedWrites = await until(async () => {
      const text = await (await fetch(`${doomed.url}/metrics`)).text()
      return Number(text.match(/^gateway_fenced_writes_total (\d+)$/m)?.[1])
    })
    await expectInvariants(stage.databaseUrl, { acknowledged, messages: kinds.length })
    return { sent: await sentOf(stage), brokenAt, fencedWrites }
  }
}

interface Cast {
  stage: Stage
  /** Settles when the bulk was answered, after the death of who took it at the latest. */
  ids: Promise<string[]>
  doomed: Gateway
  heir: Gateway
}

async function setUp(
  env: Record<string, string>,
  heirEnv: Record<string, string>,
  kinds: readonly ('sure' | 'blind')[],
): Promise<Cast> {
  const stage = await openStage()
  const [doomed, heir] = await Promise.all([stage.start(env), stage.start(heirEnv)])
  // It must not take the jobs itself.
  heir.kill('SIGSTOP')
  // A number that ends in 0005 stays `sent`, so that slow networks need not be waited for.
  const bodies = kinds.map((kind) => text(stage[kind], `${plainNumber().slice(0, -4)}0005`))
  let alive = true
  void doomed.exited.then(() => {
    alive = false
  })
  const ids = sendAll(stage.account, () => (alive ? doomed : heir), bodies)
  ids.catch(() => {})
  return { stage, ids, doomed, heir }
}

async function databaseNow(stage: Stage): Promise<Date> {
  const { rows } = await sql(stage.databaseUrl).query<{ now: Date }>('select clock_timestamp() as now')
  return (rows[0] as { now: Date }).now
}

async function sentOf(stage: Stage): Promise<Sent[]> {
  const { rows } = await sql(stage.databaseUrl).query<Sent>(
    `select m.id, i.name as kind, m.status, m.error, coalesce(s.offers, 0) as offers, m."acceptedAt"
     from messages m join instances i on i.id = m."instanceId" left join sandbox_messages s on s.reference = m.id::text order by m.id`,
  )
  return rows
}

function tell({ sent }: Scene, kind: Sent['kind']): string[] {
  return [
    ...new Set(
      sent
        .filter((message) => message.kind === kind)
        .map(({ status, error, offers }) => [status, error ?? '-', `${offers}x`].join(' ')),
    ),
  ]
}

/** Seconds from the break to the last acceptance. */
function resumedAfter({ sent, brokenAt }: Scene): number {
  return Math.max(...sent.flatMap(({ acceptedAt }) => (acceptedAt ? [acceptedAt.getTime() - brokenAt.getTime()] : []))) / 1000
}

it('sends once, within 12 s, what a worker took and had not offered when it was killed', () => {
  const scene = played.beforeProvider
  expect(tell(scene, 'Sure')).toEqual(['sent - 1x'])
  console.log(`F1: resumed after ${resumedAfter(scene)} s`)
  expect(resumedAfter(scene)).toBeLessThan(12)
})

it('does not offer again to a network without references what may have been offered before the kill', () => {
  expect(tell(played.beforeProvider, 'Blind')).toEqual(['failed UNKNOWN_OUTCOME 0x'])
})

it('offers again under the same reference what was accepted right before the kill, and the network has it once', () => {
  expect(tell(played.afterAccept, 'Sure')).toEqual(['sent - 2x'])
})

it('lets receipts tell what became of messages whose acceptance died with the worker', () => {
  expect(tell(played.afterAccept, 'Blind')).toEqual(['sent - 1x'])
})

it('does nothing more for what was committed before the kill', () => {
  expect(tell(played.afterCommit, 'Sure')).toEqual(['sent - 1x'])
  expect(tell(played.afterCommit, 'Blind')).toEqual(['sent - 1x'])
})

it('takes over from a frozen worker, which offers nothing when it wakes and whose writes are refused', () => {
  const scene = played.frozenBeforeOffer
  expect(tell(scene, 'Sure')).toEqual(['sent - 1x'])
  expect(tell(scene, 'Blind')).toEqual(['failed UNKNOWN_OUTCOME 0x'])
  expect(scene.fencedWrites).toBe(4)
  console.log(`F4: taken over after ${resumedAfter(scene)} s`)
})

it('refuses the late outcome of a worker that froze after its message was accepted', () => {
  const scene = played.frozenAfterAccept
  expect(tell(scene, 'Sure')).toEqual(['sent - 2x'])
  expect(scene.fencedWrites).toBe(1)
})
