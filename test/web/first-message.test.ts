// From nothing to a delivered message on WhatsApp Web: pairing by QR code, sending, receipts, and an answer.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback } from './rig.ts'

const ann = '393331234567'
const shop = '390000000001'

describe('an instance of web', () => {
  let network: Loopback
  let gateway: OpenGateway
  let client: Client

  beforeAll(async () => {
    const databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    client = await openClient(databaseUrl, gateway)
  })

  it('pairs by the QR code of its state, sends a text, follows its receipts, and takes an answer', async () => {
    const id = await client.pair(network, shop)
    expect((await client.api.get(`instances/${id}`)).body.data.waNumber).toBe(`+${shop}`)

    const sent = await client.api.post('messages/send', { instanceId: id, to: `+${ann}`, type: 'text', text: 'Ciao 👋' })
    expect(sent.body.data).toMatchObject({ status: 'queued' })
    const message = async () => (await client.api.get(`messages/${sent.body.data.id}`)).body.data
    const [arrived] = await until(() => (network.arrived.length > 0 ? network.arrived : undefined))
    expect(arrived).toMatchObject({ from: shop, to: ann, message: { extendedTextMessage: { text: 'Ciao 👋' } } })
    expect(arrived?.id).toMatch(/^3EB0[0-9A-F]{18}$/)
    await until(async () => (await message()).status === 'sent')
    expect((await message()).providerMessageId).toBe(arrived?.id)

    network.receipt(shop, arrived?.id as string, ann)
    await until(async () => (await message()).status === 'delivered')
    network.receipt(shop, arrived?.id as string, ann, 'read')
    await until(async () => (await message()).status === 'read')

    const answerId = await network.write(ann, shop, { conversation: 'Grazie' })
    const inbound = await until(async () => (await client.api.get('messages?direction=inbound')).body.data.messages[0])
    expect(inbound).toMatchObject({ from: `+${ann}`, type: 'text', body: 'Grazie', providerMessageId: answerId })
    expect(network.faults).toEqual([])
  })
})
