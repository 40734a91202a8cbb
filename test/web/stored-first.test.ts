// Proves that acks and receipts are stored before they count as taken, so that a process that ends loses none of them.
import { beforeAll, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { hold, refuse } from '../kit/fault.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf } from './rig.ts'

const [ann, shop] = ['393331234567', '390000000151']

let databaseUrl: string
let network: Loopback
let gateway: InnerGateway
let client: Client
let instanceId: string

async function start(): Promise<void> {
  gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
}

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback(ann)
  await start()
  client = await openClient(databaseUrl, gateway)
  instanceId = await client.pair(network, shop)
})

const statusOf = async (id: string) =>
  (await rowsOf(databaseUrl, 'select status from messages where id = $1', [id]))[0].status as string

async function send(): Promise<{ id: string; stanzaId: string }> {
  const before = network.arrived.length
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'Hi' })
  const { id: stanzaId } = await until(() => network.arrived[before])
  return { id: body.data.id, stanzaId }
}

const isConfirmed = (id: string) => network.requests.some(({ tag, attrs }) => tag === 'ack' && attrs.id === id)

it('a receipt is confirmed once it is stored; until then the network offers it again', async () => {
  const { id, stanzaId } = await send()
  await until(async () => (await statusOf(id)) === 'sent')
  const held = await hold(databaseUrl, 'update', 'messages')
  network.receipt(shop, stanzaId, ann)
  await held.waits()
  // The answer to this comes after the confirmation would have.
  await network.write(ann, shop, { conversation: 'Hi' })
  await until(() => network.accounts.get(shop)?.queue.size === 0)
  expect(isConfirmed(stanzaId)).toBe(false)
  await held.release()
  await until(() => isConfirmed(stanzaId))
  expect(await statusOf(id)).toBe('delivered')
})

it('a message counts as handed over once it is stored that the network took it', async () => {
  const acks = Promise.withResolvers<void>()
  network.acksAfter = acks.promise
  const { id, stanzaId } = await send()
  // Without its event no receipt is stored.
  const away = await refuse(databaseUrl, 'insert', 'outbox')
  acks.resolve()
  await away.happened(2)
  await gateway.stop()
  await away()
  network.acksAfter = undefined
  await start()
  await until(async () => (await statusOf(id)) === 'sent')
  expect(network.arrived.filter((one) => one.id === stanzaId)).toHaveLength(1)
})
