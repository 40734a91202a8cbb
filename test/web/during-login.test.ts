// Proves that receipts and messages that arrive during a login are kept.
import type { BinaryNode } from 'baileys'
import { beforeAll, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'

let databaseUrl: string
let network: Loopback
let client: Client

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback(ann)
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
  client = await openClient(databaseUrl, gateway)
})

const statusOf = async (id: string) => (await client.api.get(`messages/${id}`)).body.data.status as string

/** Sends a message from the account. Returns its id, and the one on the network. */
async function send(instanceId: string): Promise<{ id: string; stanzaId: string }> {
  const before = network.arrived.length
  const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'Hi' })
  const { id: stanzaId } = await until(() => network.arrived[before])
  return { id: body.data.id, stanzaId }
}

/** The account logs in again. The network leaves the last question of the login open, until the returned function is called. */
async function logInAgain(account: string): Promise<() => void> {
  const asked = Promise.withResolvers<BinaryNode>()
  network.onRequest = (request) => {
    if (request.attrs.xmlns !== 'passive') return undefined
    network.onRequest = undefined
    asked.resolve(request)
    return 'lost'
  }
  network.accounts.get(account)?.connection?.ws.terminate()
  const { id } = (await asked.promise).attrs
  return () =>
    network.accounts.get(account)?.connection?.send({
      tag: 'iq',
      attrs: { from: 's.whatsapp.net', type: 'result', id: id as string },
    })
}

const isConfirmed = (id: string) => network.requests.some(({ tag, attrs }) => tag === 'ack' && attrs.id === id)

it('takes a receipt that comes before the login is complete', async () => {
  const account = '390000000131'
  const { id, stanzaId } = await send(await client.pair(network, account))
  const proceed = await logInAgain(account)
  network.receipt(account, stanzaId, ann)
  await until(() => isConfirmed(stanzaId))
  proceed()
  await until(async () => (await statusOf(id)) === 'delivered')
})

it('marks a message as read that came before the login was complete', async () => {
  const account = '390000000132'
  await client.pair(network, account, { markRead: true })
  const proceed = await logInAgain(account)
  const stanzaId = await network.write(ann, account, { conversation: 'while you were away' })
  await until(async () => (await rowsOf(databaseUrl, 'select from messages where "providerMessageId" = $1', [stanzaId])).length)
  await until(() => network.accounts.get(account)?.queue.size === 0)
  proceed()
  await until(() =>
    network.requests.some(({ tag, attrs }) => tag === 'receipt' && attrs.id === stanzaId && attrs.type === 'read'),
  )
})
