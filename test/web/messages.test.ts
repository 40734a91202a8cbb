// Messages of every kind over WhatsApp Web, in both directions, and the answers of the network about them.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { newNumber } from '../rest-compat/rig.ts'
import type { Arrived, Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf, sendsWith } from './rig.ts'

const ann = '393331234567'
const shop = '390000000001'

describe('messages of an instance of web', () => {
  let network: Loopback
  let gateway: InnerGateway
  let client: Client
  let instanceId: string
  let databaseUrl: string

  beforeAll(async () => {
    databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
    gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
    client = await openClient(databaseUrl, gateway)
    instanceId = await client.pair(network, shop)
  })

  const send = async (fields: object): Promise<string> => {
    const { status, body } = await client.api.post('messages/send', { instanceId, to: `+${ann}`, ...fields })
    if (status >= 300) throw new Error(JSON.stringify(body))
    return body.data.id
  }
  const message = async (id: string) => (await client.api.get(`messages/${id}`)).body.data
  const arrivedAs = async (id: string): Promise<Arrived> => {
    const { providerMessageId } = await until(async () => {
      const found = await message(id)
      return found.status === 'sent' ? found : undefined
    })
    return await until(() => network.arrived.find((one) => one.id === providerMessageId))
  }
  const received = async (stanzaId: string) =>
    await until(async () => {
      const { messages } = (await client.api.get('messages?direction=inbound&limit=100')).body.data
      return messages.find((one: { providerMessageId: string }) => one.providerMessageId === stanzaId)
    })
  const contentOf = async (id: string) =>
    (await rowsOf(databaseUrl, 'select content from messages where id = $1', [id]))[0]?.content as Record<string, unknown>

  it('carry places and contacts', async () => {
    const place = await arrivedAs(
      await send({ type: 'location', latitude: 45.46, longitude: 9.19, locationName: 'Duomo', locationAddress: 'Milano' }),
    )
    expect(place.message.locationMessage).toMatchObject({ degreesLatitude: 45.46, name: 'Duomo', address: 'Milano' })
    const contact = await client.api.post('contacts', { name: 'Lee, Ann', phone: '+393330000001' })
    const card = await arrivedAs(await send({ type: 'contact', contactId: contact.body.data.id }))
    expect(card.message.contactMessage?.vcard).toContain('waid=393330000001:+393330000001')
    expect(card.message.contactMessage?.vcard).toContain('FN:Lee\\, Ann')
  })

  it.each(['\n', '\r\n', '\r'])(
    'carry a contact whose name has the line break %j as one card with one number',
    async (lineBreak) => {
      const { body } = await client.api.post('contacts', { name: `Ann${lineBreak}TEL:+1`, phone: newNumber() })
      const { message } = await arrivedAs(await send({ type: 'contact', contactId: body.data.id }))
      const lines = message.contactMessage?.vcard?.split(/\r\n|\r|\n/) ?? []
      expect(lines).toContain('FN:Ann\\nTEL:+1')
      expect(lines.filter((line) => line.startsWith('TEL'))).toHaveLength(1)
    },
  )

  it('number the buttons, and read the number or the label of an answer as the button', async () => {
    const buttons = [
      { type: 'reply', displayText: 'Yes please', id: 'y' },
      { type: 'reply', displayText: 'No', id: 'n' },
    ]
    const offered = await arrivedAs(await send({ type: 'buttons', title: 'Come?', description: 'Tonight at 8', buttons }))
    expect(offered.message.extendedTextMessage?.text).toMatch(/1\. Yes please\n2\. No/)
    const byNumber = await received(await network.write(ann, shop, { conversation: ' 2 ' }))
    expect(byNumber).toMatchObject({ type: 'text', body: 'No' })
    expect(await contentOf(byNumber.id)).toMatchObject({ kind: 'button', buttonId: 'n' })
    const byLabel = await received(await network.write(ann, shop, { conversation: 'YES PLEASE' }))
    expect(await contentOf(byLabel.id)).toMatchObject({ kind: 'button', buttonId: 'y' })
  })

  it.each([
    ['2', ['2', '1'], 'b1'],
    ['1', ['2', '1'], 'b0'],
    ['3', ['2', '3', '4'], 'b2'],
    ['4', ['2', '3', '4'], 'b2'],
    ['CAFFE\u0300', ['Tè', 'Caffè'], 'b1'],
    ['Caffè', ['Te\u0300', 'Caffe\u0300'], 'b1'],
  ])(
    'read the answer %s to the buttons %j as %s: the number first, then the label, however its accents are written',
    async (answer, labels, chosen) => {
      const buttons = labels.map((displayText, i) => ({ type: 'reply', displayText, id: `b${i}` }))
      await arrivedAs(await send({ type: 'buttons', description: 'How many?', buttons }))
      const taken = await received(await network.write(ann, shop, { conversation: answer }))
      expect(await contentOf(taken.id)).toMatchObject({ kind: 'button', buttonId: chosen })
    },
  )

  it('that the network refuses fail with its code, and the third 463 of a day restricts the account', async () => {
    for (let i = 0; i < 3; i++) {
      network.refusals = ['463']
      const id = await send({ type: 'text', text: `cold ${i}` })
      const failed = await until(async () => {
        const found = await message(id)
        return found.status === 'failed' ? found : undefined
      })
      expect(failed.error).toBe('ACCOUNT_RESTRICTED')
      const [row] = await rowsOf(databaseUrl, 'select "errorDetail" from messages where id = $1', [id])
      expect(row?.errorDetail).toContain('463')
      const [{ restrictedAt }] = (await rowsOf(databaseUrl, 'select "restrictedAt" from instances where id = $1', [
        instanceId,
      ])) as [{ restrictedAt: Date | null }]
      expect(restrictedAt !== null).toBe(i === 2)
    }
  })

  it.each(['402', '403'])('that the network refuses with %s fail, and restrict the account at once', async (code) => {
    const other = await client.pair(network, `390000000${code}`)
    network.refusals = [code]
    const id = await send({ instanceId: other, type: 'text', text: `refused with ${code}` })
    const failed = await until(async () => {
      const found = await message(id)
      return found.status === 'failed' ? found : undefined
    })
    expect(failed.error).toBe('ACCOUNT_RESTRICTED')
    const [row] = await rowsOf(
      databaseUrl,
      `select m."errorDetail", i.status, i."lastError", i."restrictedAt" is not null as restricted, i."atRiskAt" is not null as "atRisk"
       from messages m join instances i on i.id = m."instanceId" where m.id = $1`,
      [id],
    )
    expect(row).toEqual({
      errorDetail: `the network refused the message (${code})`,
      status: 'connected',
      lastError: `the network restricts the account (${code})`,
      restricted: true,
      atRisk: true,
    })
    expect(network.arrived.filter(({ from }) => from === `390000000${code}`)).toEqual([])
  })

  it('that the network refuses for another reason fail with that code, and restrict nothing', async () => {
    network.refusals = ['479']
    const id = await send({ type: 'text', text: 'malformed' })
    await until(async () => (await message(id)).status === 'failed')
    const [row] = await rowsOf(databaseUrl, 'select error, "errorDetail" from messages where id = $1', [id])
    expect(row).toEqual({ error: 'PROVIDER_ERROR', errorDetail: 'the network refused the message (479)' })
  })

  it('that the network does not take for its rate wait for as long as it takes none, and leave', async () => {
    hasten(gateway, { tooManyMs: 100 })
    const bea = '393331234570'
    network.addPhones(bea)
    const unknown = await sendsWith(gateway, 'unknown')
    // It asks for the devices of a new recipient.
    let left = 20
    network.onRequest = ({ attrs }) => (attrs.xmlns === 'usync' && left-- > 0 ? '429' : undefined)
    const first = await send({ to: `+${bea}`, type: 'text', text: 'first' })
    await arrivedAs(first).finally(() => {
      network.onRequest = undefined
    })
    network.refusals = ['429']
    const second = await send({ to: `+${bea}`, type: 'text', text: 'second' })
    await arrivedAs(second)
    const rows = await rowsOf(databaseUrl, 'select attempts, error from messages where id = any($1)', [[first, second]])
    expect(rows).toEqual(Array(2).fill({ attempts: 1, error: null }))
    expect(await sendsWith(gateway, 'unknown')).toBe(unknown)
  })

  it('are sent again under the same id when the ack was lost, and the recipient sees one', async () => {
    network.lostAcks = 1
    const arrived = await arrivedAs(await send({ type: 'text', text: 'once' }))
    expect(network.arrived.filter(({ message }) => message.extendedTextMessage?.text === 'once')).toEqual([arrived])
    expect(arrived.repeats).toBe(1)
  })

  it('of other kinds come in with what matters of them', async () => {
    const reaction = await received(await network.write(ann, shop, { reactionMessage: { text: '👍', key: { id: 'X1' } } }))
    expect(reaction).toMatchObject({ type: 'unknown', body: '👍', from: `+${ann}` })
    expect(await contentOf(reaction.id)).toMatchObject({ kind: 'reaction', reactedTo: 'X1' })
    const place = await received(await network.write(ann, shop, { locationMessage: { degreesLatitude: 1, degreesLongitude: 2 } }))
    expect(await contentOf(place.id)).toMatchObject({ kind: 'location', latitude: 1, longitude: 2 })
    const contextInfo = { stanzaId: 'X2' }
    const reply = await received(await network.write(ann, shop, { extendedTextMessage: { text: 'so', contextInfo } }))
    expect(await contentOf(reply.id)).toMatchObject({ kind: 'text', replyTo: 'X2' })
  })

  it('that came while it was away are stored once', async () => {
    const before = network.logins
    network.accounts.get(shop)?.connection?.ws.terminate()
    const id = await network.write(ann, shop, { conversation: 'while away' })
    await until(() => network.logins > before)
    expect(await received(id)).toMatchObject({ body: 'while away' })
    await until(() => network.accounts.get(shop)?.queue.size === 0)
  })

  it('whose receipt is lost with the connection are confirmed at the next login, and their sender is not asked again', async () => {
    const before = network.logins
    network.lostReceipts = 1
    const id = await network.write(ann, shop, { conversation: 'confirmed late' })
    expect(await received(id)).toMatchObject({ body: 'confirmed late' })
    await until(() => network.logins > before)
    await until(() => network.accounts.get(shop)?.queue.size === 0)
    expect(network.retries).toBe(0)
    expect(await received(await network.write(ann, shop, { conversation: 'and on' }))).toMatchObject({ body: 'and on' })
  })

  it('can be preceded by a look-up, whose answer is kept', async () => {
    const numbers = [`+${ann}`, '+393339999999']
    const ask = async () => (await client.api.post('number-lookups', { instanceId, numbers })).body.data
    await client.reached(instanceId, 'connected')
    const exists = (answer: { exists: boolean }[]) => answer.map((one) => one.exists)
    const first = await ask()
    expect(exists(first)).toEqual([true, false])
    const asked = network.requests.length
    const second = await ask()
    expect(exists(second)).toEqual([true, false])
    expect(network.requests.slice(asked).filter(({ attrs }) => attrs.xmlns === 'usync')).toEqual([])
  })
})
