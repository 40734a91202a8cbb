// A connection that the network leaves without a word, or in the middle of a question: it is closed soon, and its messages leave once.
import type { BinaryNode } from 'baileys'
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { openPassage, type Passage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback } from './rig.ts'

const [ann, shop] = ['393331234567', '390000000081']

async function openParts(): Promise<{ network: Loopback; way: Passage; client: Client; instanceId: string }> {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const way = await openPassage(network.port)
  const env = { ...environmentOf(network), WEB_SOCKET_URL: `ws://127.0.0.1:${way.port}/ws/chat` }
  const gateway = await openGateway({ databaseUrl, env })
  hasten(gateway, { keepAliveMs: 500, reconnectMs: 10 })
  const client = await openClient(databaseUrl, gateway)
  return { network, way, client, instanceId: await client.pair(network, shop) }
}

const arrivals = ({ arrived }: Loopback) => arrived.map(({ message, repeats }) => [message.extendedTextMessage?.text, repeats])

it('a connection that carries nothing any more is closed without an answer of the network', async () => {
  const { network, way, client, instanceId } = await openParts()
  const { promise, resolve: comeBack } = Promise.withResolvers<void>()
  network.loginsAfter = promise
  way.silence()
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'once' })
  // It is noticed after 6 s. The package would wait for the answer to its close for 30 s more.
  const state = await until(
    async () => {
      const found = await client.state(instanceId)
      return found.status === 'disconnected' && found
    },
    { timeoutMs: 30_000 },
  )
  expect(state.lastError).toBe('the connection was lost (408)')
  comeBack()
  await client.reached(instanceId, 'connected')
  await until(async () => (await client.api.get(`messages/${body.data.id}`)).body.data.status === 'sent')
  expect(arrivals(network)).toEqual([['once', 0]])
})

it.each([
  ['devices', ({ attrs }: BinaryNode) => attrs.xmlns === 'usync'],
  ['keys', ({ attrs, content }: BinaryNode) => attrs.xmlns === 'encrypt' && (content as BinaryNode[])[0]?.tag === 'key'],
])(
  'a connection that ends while the network is asked for the %s of a recipient leaves no message behind',
  async (_, isQuestion) => {
    const { network, client, instanceId } = await openParts()
    network.onRequest = (request) => {
      if (!isQuestion(request)) return undefined
      network.onRequest = undefined
      network.disconnect(shop, '503')
      return 'lost'
    }
    const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'once' })
    // The package would wait for the answer for a minute.
    await until(async () => (await client.api.get(`messages/${body.data.id}`)).body.data.status === 'sent', { timeoutMs: 40_000 })
    expect(network.onRequest).toBeUndefined()
    expect(arrivals(network)).toEqual([['once', 0]])
  },
)

it('a message that the network took is sent, although its recipient is suppressed before the connection is back', async () => {
  const { network, client, instanceId } = await openParts()
  const { promise, resolve: comeBack } = Promise.withResolvers<void>()
  network.loginsAfter = promise
  network.lostAcks = 1
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'once' })
  await until(() => network.arrived.length === 1)
  network.disconnect(shop, '503')
  await client.reached(instanceId, 'disconnected')
  expect((await client.api.post('suppressions', { phone: `+${ann}` })).status).toBe(201)
  comeBack()
  const message = await until(async () => {
    const found = (await client.api.get(`messages/${body.data.id}`)).body.data
    return found.status !== 'sending' && found
  })
  expect(message).toMatchObject({ status: 'sent', error: null })
  expect(arrivals(network)).toEqual([['once', 1]])
})
