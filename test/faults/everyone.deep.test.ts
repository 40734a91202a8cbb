// Half a minute in which people of two workspaces use the whole API at random, on two processes that are killed; then every invariant is checked.
// `EVERYONE_SEED=n` chooses other operations, `EVERYONE_SECONDS=n` a longer time.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it, onTestFailed } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { pickFrom, seeded } from '../kit/random.ts'
import { until } from '../kit/until.ts'
import { newCrew } from '../teams/rig.ts'
import { newSpace, operationsOf, type Space } from './everyone-rig.ts'

const seed = Number(process.env.EVERYONE_SEED ?? 1)
const seconds = Number(process.env.EVERYONE_SECONDS ?? 30)
const peopleAtOnce = 24

const random = seeded(seed)
const pick = <T>(list: readonly T[]): T => pickFrom(list, random)

/** A receiver of webhooks that answers as receivers do: well, badly, busy, or gone. */
async function openReceiver(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.statusCode = pick([200, 200, 200, 200, 200, 200, 500, 500, 429, 410])
      response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  atEnd('test', async () => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`
}

async function resumeAll({ clients, ids }: Space): Promise<void> {
  for (const id of ids.campaigns) await (clients[0] as Api).post(`/api/campaigns/${id}/resume`)
}

it(`every invariant holds after the whole API was used at once and processes were killed (seed ${seed})`, async () => {
  const databaseUrl = await cloneDatabase()
  const start = () => startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', WEBHOOK_RETRY_BASE_SECONDS: '1' } })
  const nodes: [Gateway, Gateway] = [await start(), await start()]
  // Addresses that stay valid when a process is started again, on another port.
  const gateway = {
    get url() {
      return pick(nodes).url
    },
  }
  const { owner, admin, collaborator, teamId, workspaceId } = await newCrew({ databaseUrl, gateway, mailDir: '' })
  const phones = async (of: { userId: string; workspaceId: string }) =>
    (await Promise.all([1, 2, 3].map(() => connectedInstance(databaseUrl, of)))).map(({ id }) => id)
  const team = [owner, admin, collaborator].map((person) => person.inTeam(teamId))
  const spaces = [
    newSpace([owner.api], '/api/api-keys', await phones(owner)),
    newSpace(team, `/api/teams/${teamId}/api-keys`, await phones({ userId: owner.userId, workspaceId })),
  ]
  const operations = Object.entries(operationsOf(random, await openReceiver()))
  const answered = new Map<string, number>()
  onTestFailed(() =>
    console.error(
      `EVERYONE_SEED=${seed}`,
      Object.fromEntries(answered),
      nodes.map(({ logs }) => logs.slice(-20)),
    ),
  )

  const end = performance.now() + seconds * 1_000
  const isOver = () => performance.now() >= end
  const oddities = new Set<string>()
  async function act(): Promise<void> {
    const space = pick(spaces)
    const [name, operation] = pick(operations)
    try {
      const answer = await operation(space, pick(space.clients))
      if (!answer) return
      const outcome = `${name} ${answer.status} ${answer.body?.error?.code ?? ''}`
      answered.set(outcome, (answered.get(outcome) ?? 0) + 1)
      // The gateway may be too busy for a moment, or wait for a lock for too long.
      if (answer.status >= 500 && answer.status !== 503) oddities.add(`${outcome} ${JSON.stringify(answer.body)}`)
      if (name === 'graph' && answer.status === 200 && answer.body.errors)
        oddities.add(`${outcome} ${JSON.stringify(answer.body.errors)}`)
    } catch (error) {
      // The process was killed. Everything else is an answer that the documents do not describe.
      if (!/^(fetch failed|terminated)$/.test((error as Error).message)) oddities.add(`${name}: ${(error as Error).message}`)
    }
  }
  async function person(): Promise<void> {
    while (!isOver()) await act()
  }
  async function killer(): Promise<void> {
    while (!isOver()) {
      await pause(3_000 + 5_000 * random())
      const which = pick([0, 1] as const)
      nodes[which].kill('SIGKILL')
      await nodes[which].exited
      nodes[which] = await start()
    }
  }
  await Promise.all([killer(), ...Array.from({ length: peopleAtOnce }, person)])

  expect([...oddities]).toEqual([])
  for (const space of spaces) await resumeAll(space)
  await until(async () => {
    const open = `select from campaigns where status = 'running' and "lastEnqueuedAt" > now() - interval '5 seconds'`
    return (await sql(databaseUrl).query(open)).rowCount === 0
  })
  await expectInvariants(databaseUrl, { withinMs: 120_000 })
  // A deadlock is run again, and callers do not see it. It means that two transactions lock in different orders.
  const deadlocks = 'select deadlocks::int from pg_stat_database where datname = current_database()'
  expect((await sql(databaseUrl).query(deadlocks)).rows).toEqual([{ deadlocks: 0 }])
  console.log(`seed ${seed}: ${[...answered.values()].reduce((sum, n) => sum + n, 0)} requests`)
})
