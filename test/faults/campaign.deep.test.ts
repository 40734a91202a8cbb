// Campaigns with workers that are killed in the middle of a page, and campaigns that are paused, resumed and cancelled while
// they are sent: nobody gets a message twice, and nobody is left out.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, expect, it } from 'vitest'
import { type Counters, campaignTo, numbers, reach, recount, statsOf } from '../campaigns/rig.ts'
import { type Api, api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { type Gateway, spawnGateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { until } from '../kit/until.ts'
import { openStage, persist, type Stage, seeded } from './rig.ts'

/** The outcome of a scene. */
interface Ending {
  status: string
  stats: Counters
  recounted: Counters
  /** How many numbers the network has reached, and the highest count of messages to one number. */
  reached: number
  most: number
  note: string
}

const scenes = {
  killed: () => killedMidPage('sure'),
  killedBlind: () => killedMidPage('blind'),
  steered: () => steeredByTwo(2_500),
  cancelled: () => cancelledWhileSending(1_500),
}
const played = {} as Record<keyof typeof scenes, Ending>

beforeAll(async () => {
  // The job of a dead worker returns after ten seconds; the other scenes need the processors.
  const playAll = async (...names: (keyof typeof scenes)[]) => {
    for (const name of names) played[name] = await scenes[name]()
  }
  await Promise.all([playAll('killed'), playAll('killedBlind'), playAll('steered', 'cancelled')])
}, 300_000)

let starting: Promise<unknown> = Promise.resolve()

/** Starts gateways one after the other, so that they do not all need the processors at once. */
async function start(stage: Stage, env?: Record<string, string>): Promise<Gateway> {
  const started = starting.then(() => stage.start(env))
  starting = started.catch(() => {})
  return await started
}

async function create(stage: Stage, node: Gateway, to: readonly string[], kind: 'sure' | 'blind' = 'sure'): Promise<string> {
  const { status, body } = await persist(stage.account, () => node, 'campaigns', campaignTo(stage[kind].id, to))
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.data.id
}

async function ending(stage: Stage, client: Api, id: string, note = ''): Promise<Ending> {
  await expectInvariants(stage.databaseUrl)
  const { status, stats } = await statsOf(client, id)
  const { rows } = await sql(stage.databaseUrl).query<{ reached: number; most: number }>(
    `select count(*)::int as reached, coalesce(max(n), 0)::int as most from (select "to", count(*) as n from sandbox_messages group by 1) s`,
  )
  return {
    status,
    stats,
    recounted: await recount(stage.databaseUrl, id),
    ...(rows[0] as { reached: number; most: number }),
    note,
  }
}

/** A worker dies with half a page written; another goes on when the job returns. */
async function killedMidPage(kind: 'sure' | 'blind'): Promise<Ending> {
  const stage = await openStage()
  const front = await start(stage, { ROLES: 'http,relay' })
  const client = api(front, stage.account.apiKey)
  const id = await create(stage, front, numbers(300), kind)
  const doomed = spawnGateway({ databaseUrl: stage.databaseUrl, env: { ROLES: 'worker', FAILPOINT: 'campaign.mid_page:3=kill' } })
  expect((await doomed.exited).signal).toBe('SIGKILL')
  const { stats } = await statsOf(client, id)
  spawnGateway({ databaseUrl: stage.databaseUrl, env: { ROLES: 'worker' } })
  await reach(client, id, 'completed', 60_000)
  return await ending(stage, client, id, `${stats.planned} planned after the kill`)
}

/** Two callers on two nodes pause and resume at random. */
async function steeredByTwo(count: number): Promise<Ending> {
  const stage = await openStage()
  const nodes = await Promise.all([start(stage), start(stage)])
  const clients = nodes.map((node) => api(node, stage.account.apiKey))
  const id = await create(stage, nodes[0] as Gateway, numbers(count))
  const answers: string[] = []
  await Promise.all(
    clients.map(async (client, seed) => {
      const random = seeded(seed + 1)
      for (let i = 0; i < 25; i++) {
        await pause(120 * random())
        const action = random() < 0.5 ? 'pause' : 'resume'
        const { status } = await client.post(`campaigns/${id}/${action}`)
        answers.push(`${action} ${status}`)
      }
    }),
  )
  const client = clients[0] as Api
  await until(async () => {
    await client.post(`campaigns/${id}/resume`)
    // The campaign may have completed meanwhile.
    return ['running', 'completed'].includes((await statsOf(client, id)).status)
  })
  await reach(client, id, 'completed', 60_000)
  return await ending(stage, client, id, [...new Set(answers)].sort().join(', '))
}

/** Cancels in the middle of sending, right after a pause and a resume. */
async function cancelledWhileSending(count: number): Promise<Ending> {
  const stage = await openStage()
  const nodes = await Promise.all([start(stage), start(stage)])
  const clients = nodes.map((node) => api(node, stage.account.apiKey)) as [Api, Api]
  const id = await create(stage, nodes[0] as Gateway, numbers(count))
  await until(async () => (await statsOf(clients[0], id)).stats.planned < count - 300)
  const answers = await Promise.all(
    ['pause', 'resume', 'cancel', 'pause', 'cancel', 'resume'].map(async (action, i) => {
      await pause(15 * i)
      return `${action} ${(await (clients[i % 2] as Api).post(`campaigns/${id}/${action}`)).status}`
    }),
  )
  await until(async () => (await statsOf(clients[0], id)).stats.queued === 0)
  return await ending(stage, clients[0], id, answers.join(', '))
}

it.each(['killed', 'killedBlind'] as const)('sends to everyone once after a kill in the middle of a page (%s)', (name) => {
  const { status, stats, recounted, reached, most, note } = played[name]
  console.log(`F35: ${note}`)
  expect({ status, reached, most, stats }).toEqual({ status: 'completed', reached: 300, most: 1, stats: recounted })
  expect(stats).toMatchObject({ total: 300, read: 300 })
  // The page in which the worker died was written whole or not at all.
  expect(Number(note.split(' ')[0]) % 50).toBe(0)
})

it('sends to everyone once however often it is paused and resumed meanwhile', () => {
  const { status, stats, recounted, reached, most, note } = played.steered
  console.log(`F35: ${note}`)
  expect({ status, reached, most, stats }).toEqual({ status: 'completed', reached: 2_500, most: 1, stats: recounted })
  expect(stats).toMatchObject({ total: 2_500, read: 2_500 })
  expect(note).toContain('pause 200')
  expect(note).toContain('resume 200')
  expect(note).not.toMatch(/ 5\d\d/)
})

it('sends to everyone who was not cancelled, and to nobody else, when it is cancelled meanwhile', () => {
  const { status, stats, recounted, reached, most, note } = played.cancelled
  console.log(`F35: ${note}`)
  expect({ status, most, stats }).toEqual({ status: 'cancelled', most: 1, stats: recounted })
  expect(stats.read + stats.cancelled).toBe(1_500)
  expect(reached).toBe(stats.read)
  expect(stats.cancelled).toBeGreaterThan(0)
  expect(note).not.toMatch(/ 5\d\d/)
})
