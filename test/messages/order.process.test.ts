// Messages to one number leave in the order in which they were sent, over two gateways, and delay no other number.
import { beforeAll, expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { spawnGateway } from '../kit/gateway.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'

/** Hundreds of messages that leave one after the other take minutes on a busy machine, and no shorter time is promised. */
const longMs = 150_000
const patient = { timeout: longMs + 60_000 }

let scene: Scene

beforeAll(async () => {
  scene = await openScene({ gateways: 2 })
})

function body(to: string, text = 'hello', more: Record<string, unknown> = {}): Record<string, unknown> {
  return { instanceId: scene.phone.id, to, type: 'text', text, ...more }
}

async function bulk(messages: unknown[]): Promise<string[]> {
  const { status, body } = await scene.client().post('messages/bulk', { messages })
  expect(status).toBe(202)
  return body.data.accepted.map(({ id }: { id: string }) => id)
}

/** Waits until the network has accepted all messages; returns their ids in the order in which it accepted them. */
async function taken(ids: readonly string[]): Promise<string[]> {
  return await until(
    async () => {
      const { rows } = await sql(scene.databaseUrl).query<{ id: string }>(
        `select m.id from messages m join sandbox_messages s on s.reference = m.id::text
         where m.id = any($1) and m."acceptedAt" is not null order by s."acceptedAt"`,
        [ids],
      )
      return rows.length === ids.length && rows.map(({ id }) => id)
    },
    { timeoutMs: longMs, everyMs: 50 },
  )
}

it('keeps the order of twenty messages sent one after the other through two gateways', async () => {
  const ids: string[] = []
  for (let i = 0; i < 20; i++) {
    const sent = await scene.client(i).post('messages/send', body('+393331110100', `number ${i}`))
    ids.push(sent.body.data.id)
  }
  expect(await taken(ids)).toEqual(ids)
})

it('keeps the order of a bulk, with each message waiting until the one before it is accepted after its refusals', async () => {
  const ids = await bulk(Array.from({ length: 6 }, () => body('+393331110008')))
  expect(await taken(ids)).toEqual(ids)
  const { rows } = await sql(scene.databaseUrl).query('select offers from sandbox_messages where reference = any($1)', [ids])
  expect(rows.map(({ offers }) => offers)).toEqual(Array(6).fill(3))
})

it('keeps the order of hundreds of messages to one number, and lets messages to others pass', patient, async () => {
  const many = await bulk(Array.from({ length: 300 }, () => body('+393331110200')))
  const others = await bulk(Array.from({ length: 20 }, (_, i) => body(`+39333111${3000 + i}`)))
  const all = await taken([...many, ...others])
  expect(all.filter((id) => many.includes(id))).toEqual(many)
  const passed = Math.max(...others.map((id) => all.indexOf(id))) + 1 - others.length
  console.log(`${passed} of 300 to one number had left when the last of 20 others behind them did`)
  expect(passed).toBeLessThan(150)
})

it('lets instant messages overtake hundreds of scheduled ones that are due', patient, async () => {
  // No worker runs before all of them are due.
  const crowd = await cloneDatabase()
  const owner = await createAccount(crowd)
  const { id: instanceId } = await connectedInstance(crowd, owner)
  const entry = api(await openGateway({ databaseUrl: crowd, env: { ROLES: 'http' } }), owner.apiKey)
  const scheduledAt = new Date(Date.now() + 6_000).toISOString()
  const some = (count: number, more: object) =>
    Array.from({ length: count }, (_, i) => ({ instanceId, to: `+39333112${1000 + i}`, type: 'text', text: 'hello', ...more }))
  expect((await entry.post('messages/bulk', { messages: some(600, { scheduledAt }) })).body.data.accepted).toHaveLength(600)
  await until(async () => (await sql(crowd).query('select from messages where "dueAt" > now()')).rowCount === 0)
  expect((await entry.post('messages/bulk', { messages: some(10, { to: '+393331139999' }) })).body.data.accepted).toHaveLength(10)
  spawnGateway({ databaseUrl: crowd, env: { ROLES: 'worker,relay' } })
  // The order in which workers took the jobs; a worker takes up to a hundred at once.
  const order = await until(
    async () => {
      const { rows } = await sql(crowd).query<{ instant: boolean }>(
        `select m."scheduledAt" is null as instant from messages m
         join lateral (select min(started_on) as at from pgboss.job j where j.data->>'id' = m.id::text) taken on taken.at is not null
         where m."acceptedAt" is not null order by taken.at, instant`,
      )
      return rows.length === 610 && rows.map(({ instant }) => instant)
    },
    { timeoutMs: longMs, everyMs: 50 },
  )
  console.log(`the first of 10 instant messages to one number was taken as number ${order.indexOf(true) + 1} of 610`)
  // Three workers take a hundred jobs each at the same time, with the instant ones among the first hundred.
  expect(order.indexOf(true)).toBeLessThan(300)
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(scene.databaseUrl)
})
