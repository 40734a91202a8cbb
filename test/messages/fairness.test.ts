// A network that hangs holds up the messages of its own instance, and no others.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import type { Context } from '../../src/core/context.ts'
import { inFlight } from '../../src/messages/dispatch/in-flight.ts'
import { sendMessage, sendMessages } from '../../src/messages/service.ts'
import type { SendOutcome } from '../../src/providers/outgoing.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { accepted, allAccepted, network, openWorker, statesOf } from './network-rig.ts'
import { contextFor } from './rig.ts'

const net = network()
let databaseUrl: string
let account: Account
let app: App
let ctx: Context

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  app = await openWorker(databaseUrl, net)
  ctx = contextFor(app, account)
})

/** An instance whose sends are answered when the test says so. */
async function hangingPhone(): Promise<{ id: string; answer: () => void }> {
  const { id } = await connectedInstance(databaseUrl, account)
  const { promise, resolve } = Promise.withResolvers<void>()
  const before = net.answer
  net.answer = async (message, instance): Promise<SendOutcome> => {
    if (instance.id !== id) return await before(message, instance)
    await promise
    return accepted(message)
  }
  return { id, answer: resolve }
}

it('sends for others at once while an instance hangs with more messages than may be in progress, and then those', async () => {
  const hanging = await hangingPhone()
  const healthy = await connectedInstance(databaseUrl, account)
  const input = (instanceId: string, i: number) => ({ instanceId, to: `+39333900${1000 + i}`, type: 'text', text: 'hello' })
  const begin = net.calls.length
  // The first one shows that the network is slow.
  const { id: first } = await sendMessage(ctx, input(hanging.id, 0))
  await until(() => inFlight(app).isSlow(hanging.id))
  const { accepted: list } = await sendMessages(
    ctx,
    Array.from({ length: 500 }, (_, i) => input(hanging.id, 1 + i)),
  )
  const ids = [first, ...list.map(({ id }) => id)]
  const started = () => net.calls.slice(begin).filter(({ instanceId }) => instanceId === hanging.id)
  const waiting = async () => (await statesOf(databaseUrl, ids)).filter((state) => state === 'held by instance').length
  await until(async () => started().length + (await waiting()) === ids.length)
  expect(started().length).toBeLessThan(300)
  const { accepted: others } = await sendMessages(
    ctx,
    Array.from({ length: 50 }, (_, i) => input(healthy.id, i)),
  )
  await allAccepted(
    databaseUrl,
    others.map(({ id }) => id),
  )
  expect(await waiting(), 'the others overtook them').toBeGreaterThan(200)
  hanging.answer()
  await allAccepted(databaseUrl, ids)
  expect(new Set(started().map(({ id }) => id))).toEqual(new Set(ids))
  const jobs = `select from pgboss.job where state < 'completed' and (data->>'id' = any($1) or data->'ids' ?| $1)`
  const { rows } = await sql(databaseUrl).query(jobs, [ids])
  expect(rows, 'no job is left behind').toHaveLength(0)
})

it('keeps the order of messages to one number behind one that hangs', async () => {
  const hanging = await hangingPhone()
  const begin = net.calls.length
  const { accepted: list } = await sendMessages(
    ctx,
    Array.from({ length: 10 }, () => ({ instanceId: hanging.id, to: '+393339010000', type: 'text', text: 'hello' })),
  )
  const ids = list.map(({ id }) => id)
  await until(() => inFlight(app).isSlow(hanging.id))
  const { id: last } = await sendMessage(ctx, { instanceId: hanging.id, to: '+393339010000', type: 'text', text: 'last' })
  hanging.answer()
  await allAccepted(databaseUrl, [...ids, last])
  expect([...new Set(net.calls.slice(begin).map(({ id }) => id))]).toEqual([...ids, last])
})

it('lets instant messages overtake those of campaigns that wait for the same slow network', async () => {
  const hanging = await hangingPhone()
  const begin = net.calls.length
  const to = (i: number) => `+39333902${1000 + i}`
  const send = async (count: number, from: number) =>
    (
      await sendMessages(
        ctx,
        Array.from({ length: count }, (_, i) => ({ instanceId: hanging.id, to: to(from + i), type: 'text', text: 'hello' })),
      )
    ).accepted.map(({ id }) => id)
  await send(1, 0)
  await until(() => inFlight(app).isSlow(hanging.id))
  const later = await send(300, 1)
  const waiting = async (ids: string[]) =>
    (await statesOf(databaseUrl, ids)).filter((state) => state === 'held by instance').length
  await until(async () => net.calls.length - begin + (await waiting(later)) === 301)
  await sql(databaseUrl).query(`update messages set "scheduledAt" = "dueAt" where id = any($1) and "waitingSince" is not null`, [
    later,
  ])
  const instant = await send(5, 400)
  await until(async () => (await waiting(instant)) === 5)
  const before = net.calls.length
  hanging.answer()
  await allAccepted(databaseUrl, [...later, ...instant])
  const order = net.calls.slice(before).map(({ id }) => instant.includes(id))
  expect(order.lastIndexOf(true)).toBeLessThan(20)
})
