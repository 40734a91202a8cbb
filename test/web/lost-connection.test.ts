// A connection that ends in the middle of a question: its messages leave once, over the next one.
import type { BinaryNode } from 'baileys'
import { expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback } from './rig.ts'

const [ann, shop] = ['393331234567', '390000000081']

async function openParts(): Promise<{ network: Loopback; client: Client; instanceId: string }> {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback(ann)
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
  const client = await openClient(databaseUrl, gateway)
  return { network, client, instanceId: await client.pair(network, shop) }
}

const arrivals = ({ arrived }: Loopback) => arrived.map(({ message, repeats }) => [message.extendedTextMessage?.text, repeats])

it.each([
  ['devices', ({ attrs }: BinaryNode) => attrs.xmlns === 'usync'],
  ['keys', ({ attrs, content }: BinaryNode) => attrs.xmlns === 'encrypt' && (content as BinaryNode[])[0]?.tag === 'key'],
])('that ends while the network is asked for the %s of a recipient leaves no message behind', async (_, isQuestion) => {
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
})
