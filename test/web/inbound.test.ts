// Messages that come in over WhatsApp Web: who wrote, what is left alone, and how long an answer counts as a button.
import { proto } from 'baileys'
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

const ann = '393331234567'
const shop = '390000000001'

/** A field of a message, as it is encoded, with at most 16,383 bytes. */
function fieldOf(number: number, content: Uint8Array): Buffer {
  const varint = (value: number) => (value < 128 ? [value] : [(value % 128) + 128, value >> 7])
  return Buffer.from([...varint(number * 8 + 2), ...varint(content.length), ...content])
}

describe('a message that comes in', () => {
  let network: Loopback
  let client: Client
  let databaseUrl: string
  let instanceId: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
    client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
    instanceId = await client.pair(network, shop)
  })

  const received = async (stanzaId: string) =>
    await until(async () => {
      const { messages } = (await client.api.get('messages?direction=inbound&limit=100')).body.data
      return messages.find((one: { providerMessageId: string }) => one.providerMessageId === stanzaId)
    })
  const confirmed = () => until(() => network.accounts.get(shop)?.queue.size === 0)

  it('of a sender whose number the network does not give has the id of the network, until it gives the number', async () => {
    const bo = '393335550001'
    network.addPhones(bo)
    const unnamed = await received(await network.write(bo, shop, { conversation: 'Hi' }, { attrs: { sender_pn: undefined } }))
    expect(unnamed).toMatchObject({ from: `9${bo}@lid`, body: 'Hi' })
    expect(await received(await network.write(bo, shop, { conversation: 'me' }))).toMatchObject({ from: `+${bo}` })
    // The network told the number before.
    const known = await received(await network.write(bo, shop, { conversation: 'again' }, { attrs: { sender_pn: undefined } }))
    expect(known).toMatchObject({ from: `+${bo}` })
    // No contact is made by itself.
    expect((await client.api.get('contacts')).body.data.contacts).toEqual([])
  })

  it.each([
    ['a number', { from: `${ann}:99@hosted`, sender_pn: undefined, addressing_mode: undefined }],
    ['a LID whose number the network told before', { from: `9${ann}:99@hosted.lid`, sender_pn: undefined }],
  ])('from the device of a company at Meta under %s is from its number', async (_, attrs) => {
    await received(await network.write(ann, shop, { conversation: 'by hand' }))
    const hosted = await received(await network.write(ann, shop, { conversation: 'by the API' }, { attrs }))
    expect(hosted).toMatchObject({ from: `+${ann}`, body: 'by the API' })
  })

  it.each([
    ['its LID', { participant: `9${ann}@lid`, sender_pn: undefined, participant_pn: `${ann}@s.whatsapp.net` }],
    ['its number', { participant: `${ann}@s.whatsapp.net`, sender_pn: undefined, addressing_mode: undefined }],
  ])('to a list of people is from the one who wrote it, under %s', async (_, attrs) => {
    const options = { attrs: { from: '1700000000@broadcast', ...attrs } }
    const one = await received(await network.write(ann, shop, { conversation: 'to my customers' }, options))
    expect(one).toMatchObject({ from: `+${ann}`, type: 'text', body: 'to my customers' })
    await confirmed()
  })

  it.each([
    ['a group', { from: '120363000000000001@g.us', participant: `9${ann}@lid` }],
    ['a status post', { from: 'status@broadcast', participant: `9${ann}@lid` }],
    ['a channel', { from: '120363000000000002@newsletter' }],
  ])('from %s is left alone', async (_, attrs) => {
    const count = async () => (await rowsOf(databaseUrl, `select from messages where direction = 'inbound'`)).length
    const before = await count()
    const left = await network.write(ann, shop, { conversation: 'to many' }, { attrs })
    await received(await network.write(ann, shop, { conversation: 'to the shop' }))
    expect(await count()).toBe(before + 1)
    network.accounts.get(shop)?.queue.delete(left)
    await confirmed()
  })

  it.each([
    ['under its number', { from: `${shop}@s.whatsapp.net`, sender_pn: undefined, recipient: `${ann}@s.whatsapp.net` }],
    [
      'under its LID',
      { from: `7${shop}@lid`, sender_pn: undefined, recipient: `9${ann}@lid`, peer_recipient_pn: `${ann}@s.whatsapp.net` },
    ],
    ['to a list of people', { from: '1700000000@broadcast', sender_pn: undefined, participant: `${shop}@s.whatsapp.net` }],
    ['to a list of people under its LID', { from: '1700000000@broadcast', sender_pn: undefined, participant: `7${shop}@lid` }],
    ['among our own devices', { from: `${shop}@s.whatsapp.net`, sender_pn: undefined, category: 'peer' }],
  ])('from another device of ours, %s, is left alone', async (_, attrs) => {
    network.addPhones(shop)
    // With those that have no number yet: the event of an earlier message may be among them.
    const allEvents = `select id from events where type like 'message.%' union all select id from outbox where type like 'message.%'`
    const events = async () => (await rowsOf(databaseUrl, allEvents)).length
    const count = async () => (await rowsOf(databaseUrl, 'select from messages')).length
    const [messages, told] = [await count(), await events()]
    const sent = { destinationJid: `${ann}@s.whatsapp.net`, message: { conversation: 'written on the phone' } }
    const own = await network.write(shop, shop, { deviceSentMessage: sent }, { attrs })
    await received(await network.write(ann, shop, { conversation: 'an answer to that' }))
    // The network does not offer it again.
    await until(() => !network.accounts.get(shop)?.queue.has(own))
    await confirmed()
    expect([await count(), await events()]).toEqual([messages + 1, told + 1])
    expect(network.retries).toBe(0)
  })

  it('is told after those that came before it, also while the device was away', async () => {
    const write = async (from: number, to: number) => {
      for (let n = from; n < to; n++) await network.write(ann, shop, { conversation: `in order ${n}` })
    }
    network.accounts.get(shop)?.connection?.ws.terminate()
    await until(() => !network.accounts.get(shop)?.connection)
    await write(0, 40)
    await until(() => (network.accounts.get(shop)?.queue.size ?? 0) < 40)
    await write(40, 80)
    const told = async () => {
      const text = `select m.body from events e join messages m on m.id = e."messageId" where m.body like 'in order %' order by e.seq`
      return (await rowsOf(databaseUrl, text)).map(({ body }) => Number(body.slice('in order '.length)))
    }
    await until(async () => (await told()).length === 80)
    expect(await told()).toEqual(Array.from({ length: 80 }, (_, n) => n))
    await confirmed()
  })

  it('without a part for this device comes in once the phone hands it over', async () => {
    network.addPhones(shop)
    await received(await network.write(ann, shop, { conversation: 'before' }))
    const advertised = proto.Message.encode({ conversation: 'from an advertisement' }).finish()
    const handOver = (id: string, by: string, attrs: Record<string, string | undefined>, message = advertised) => {
      const key = { id, remoteJid: `9${ann}@lid`, fromMe: false }
      const info = proto.WebMessageInfo.encode({ key, messageTimestamp: Math.floor(Date.now() / 1000) }).finish()
      const webMessageInfoBytes = Buffer.concat([info, fieldOf(2, message)])
      const result = { placeholderMessageResendResponse: { webMessageInfoBytes } }
      const type = proto.Message.ProtocolMessage.Type.PEER_DATA_OPERATION_REQUEST_RESPONSE_MESSAGE
      const response = { stanzaId: 'R1', peerDataOperationResult: [result] }
      const protocolMessage = { type, peerDataOperationRequestResponseMessage: response }
      return network.write(by, shop, { protocolMessage }, { attrs: { category: 'peer', ...attrs } })
    }
    // The gateway ignores such an answer from any account but its own.
    await handOver('FORGED1', ann, {})
    const own = { from: `${shop}@s.whatsapp.net`, sender_pn: undefined, addressing_mode: undefined }
    for (let times = 0; times < 2; times++) await handOver('ABSENT1', shop, own)
    await handOver('ABSENT2', shop, own, fieldOf(2_000, Buffer.from('of a kind that came after this client')))
    expect(await received('ABSENT1')).toMatchObject({ from: `+${ann}`, type: 'text', body: 'from an advertisement' })
    expect(await received('ABSENT2')).toMatchObject({ from: `+${ann}`, type: 'unknown', body: '' })
    await confirmed()
    const text = `select "providerMessageId" as id from messages where body = 'from an advertisement'`
    expect(await rowsOf(databaseUrl, text)).toEqual([{ id: 'ABSENT1' }])
  })

  it('to be seen once is unknown, because the network shows it to the phone alone', async () => {
    const attrs = { from: `9${ann}@lid`, sender_pn: `${ann}@s.whatsapp.net`, addressing_mode: 'lid', id: 'ONCE1', type: 'media' }
    const stanza = { tag: 'message', attrs, content: [{ tag: 'unavailable', attrs: { type: 'view_once' } }] }
    for (let times = 0; times < 2; times++) network.accounts.get(shop)?.connection?.send(stanza)
    expect(await received('ONCE1')).toMatchObject({ from: `+${ann}`, type: 'unknown', body: '' })
    await received(await network.write(ann, shop, { conversation: 'did you see it?' }))
    expect(await rowsOf(databaseUrl, `select content from messages where "providerMessageId" = 'ONCE1'`)).toEqual([
      { content: { kind: 'unsupported' } },
    ])
  })

  it.each([
    ['alone', (part: Buffer) => [part]],
    [
      'beside keys',
      (part: Buffer) => [proto.Message.encode({ messageContextInfo: { messageSecret: Buffer.alloc(32) } }).finish(), part],
    ],
    ['that disappears', (part: Buffer) => [fieldOf(40, fieldOf(1, part))]],
  ])('of a kind that came after this client is unknown: %s', async (_, partsOf) => {
    const newKind = fieldOf(2_000, Buffer.from('in a form of the future'.repeat(20)))
    const stanzaId = await network.write(ann, shop, Buffer.concat(partsOf(newKind)))
    expect(await received(stanzaId)).toMatchObject({ from: `+${ann}`, type: 'unknown', body: '' })
    await confirmed()
  })

  it('with a time that is none counts as one of now, and holds up no later one', async () => {
    const odd = await received(await network.write(ann, shop, { conversation: 'at some time' }, { attrs: { t: 'soon' } }))
    expect(Date.parse(odd.createdAt)).toBeGreaterThan(Date.now() - 60_000)
    await received(await network.write(ann, shop, { conversation: 'later' }))
  })

  it('is a button for seven days after its options were sent, and a text after that', async () => {
    const buttons = [{ type: 'reply', displayText: 'Yes', id: 'y' }]
    const { body } = await client.api.post('messages/send', {
      instanceId,
      to: `+${ann}`,
      type: 'buttons',
      title: 'Come?',
      description: 'Tonight',
      buttons,
    })
    await until(
      async () => (await rowsOf(databaseUrl, 'select status from messages where id = $1', [body.data.id]))[0].status === 'sent',
    )
    const kindOf = async () => {
      const { id } = await received(await network.write(ann, shop, { conversation: '1' }))
      return (await rowsOf(databaseUrl, 'select content from messages where id = $1', [id]))[0].content
    }
    const age = (hours: number) =>
      rowsOf(databaseUrl, `update web_options set "sentAt" = now() - $1 * interval '1 hour' returning 1`, [hours])
    await age(7 * 24 - 1)
    expect(await kindOf()).toMatchObject({ kind: 'button', buttonId: 'y' })
    await age(7 * 24)
    expect(await kindOf()).toEqual({ kind: 'text' })
  })
})

describe('a receipt', () => {
  /** A message that was sent over a network of its own, with its id there. */
  async function sentMessage() {
    const databaseUrl = await cloneDatabase()
    const network = await openLoopback(ann)
    const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    const client = await openClient(databaseUrl, gateway)
    const instanceId = await client.pair(network, shop)
    const { body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', text: 'Hi' })
    const { id: stanzaId } = await until(() => network.arrived[0])
    return { databaseUrl, network, gateway, id: body.data.id as string, stanzaId }
  }

  it('that a message was read without one that it was delivered tells both, in order', async () => {
    const { databaseUrl, network, id, stanzaId } = await sentMessage()
    network.receipt(shop, stanzaId, ann, 'read')
    const text = `select type from events where "messageId" = $1 and type <> 'message.queued' order by seq`
    const types = async () => (await rowsOf(databaseUrl, text, [id])).map(({ type }) => type)
    await until(async () => (await types()).length === 3)
    expect(await types()).toEqual(['message.sent', 'message.delivered', 'message.read'])
  })

  it('with a time that is none counts as one of now, and one that cannot be stored holds up no later one', async () => {
    const { databaseUrl, network, gateway, id, stanzaId } = await sentMessage()
    network.receipt(shop, 'a\0b', ann)
    for (const attrs of [
      { t: 'soon', type: 'inactive' },
      { t: '99999999999', type: 'read' },
    ]) {
      const receipt = { tag: 'receipt', attrs: { id: stanzaId, from: `${ann}@s.whatsapp.net`, ...attrs } }
      network.accounts.get(shop)?.connection?.send(receipt)
    }
    const message = async () => (await rowsOf(databaseUrl, 'select * from messages where id = $1', [id]))[0]
    await until(async () => (await message()).status === 'read')
    const { deliveredAt, readAt } = await message()
    for (const at of [deliveredAt, readAt]) expect(Math.abs(at - Date.now())).toBeLessThan(60_000)
    expect(gateway.logs.filter((line) => line.includes('a receipt that cannot be stored is dropped'))).toHaveLength(1)
  })
})
