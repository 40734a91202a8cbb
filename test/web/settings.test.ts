// The settings of an instance of web, as the network sees them: native buttons, typing, pace and read marks.
import { beforeAll, describe, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, openClient, openLoopback } from './rig.ts'

const ann = '393331234567'
const none = { minMs: 0, maxMs: 0 }

describe('an instance of web', () => {
  let network: Loopback
  let client: Client

  beforeAll(async () => {
    const databaseUrl = await cloneDatabase()
    network = await openLoopback(ann)
    client = await openClient(databaseUrl, await openGateway({ databaseUrl, env: environmentOf(network) }))
  })

  const send = (instanceId: string, fields: object) =>
    client.api.post('messages/send', { instanceId, to: `+${ann}`, type: 'text', ...fields })
  const arrivedFrom = (account: string) => until(() => network.arrived.find(({ from }) => from === account))
  const inbound = async (stanzaId: string) =>
    await until(async () => {
      const { messages } = (await client.api.get('messages?direction=inbound&limit=100')).body.data
      return messages.find((one: { providerMessageId: string }) => one.providerMessageId === stanzaId)
    })
  const readOf = (id: string) =>
    network.requests.filter(({ tag, attrs }) => tag === 'receipt' && attrs.id === id && attrs.type === 'read')

  it('refuses a setting that is unknown or wrong, by its name', async () => {
    const create = async (settings: object) =>
      (await client.api.post('instances', { name: 'Shop', provider: 'web', settings })).body.error
    expect(await create({ colour: 'red' })).toMatchObject({
      code: 'VALIDATION_ERROR',
      message: expect.stringContaining('colour'),
    })
    expect(await create({ buttons: 'round' })).toMatchObject({ message: expect.stringMatching(/^settings\.buttons: /) })
    expect(await create({ pace: { minMs: 2, maxMs: 1 } })).toMatchObject({ message: expect.stringMatching(/^settings\.pace: /) })
    expect(await create({ pace: { minMs: 0, maxMs: 60_001 } })).toMatchObject({
      message: expect.stringMatching(/^settings\.pace\.maxMs: /),
    })
    const made = await client.api.post('instances', { name: 'Shop', provider: 'web' })
    const query = 'query ($id: ID!) { instance(id: $id) { settings } }'
    const { body } = await client.api.graphql(query, { id: made.body.data.id })
    expect(body.data.instance.settings).toEqual({
      pace: { minMs: 1_000, maxMs: 3_000 },
      buttons: 'text',
      typing: false,
      markRead: false,
    })
  })

  it('sends buttons of the network if it is set so, and takes the answer to one as the button', async () => {
    const account = '390000000002'
    const id = await client.pair(network, account, { pace: none, buttons: 'native' })
    const buttons = [
      { type: 'reply', displayText: 'Yes please', id: 'y' },
      { type: 'reply', displayText: 'No', id: 'n' },
    ]
    await send(id, { type: 'buttons', title: 'Come?', description: 'Tonight at 8', footer: 'RSVP', buttons })
    const { message, tags } = await arrivedFrom(account)
    const { header, body, footer, nativeFlowMessage } = message.interactiveMessage ?? {}
    expect([header?.title, body?.text, footer?.text]).toEqual(['Come?', 'Tonight at 8', 'RSVP'])
    expect(nativeFlowMessage?.buttons?.map(({ name, buttonParamsJson }) => [name, JSON.parse(buttonParamsJson ?? '')])).toEqual(
      buttons.map((button) => ['quick_reply', { display_text: button.displayText, id: button.id }]),
    )
    // Without it, phones show nothing of the message.
    expect(tags).toContain('biz')
    const paramsJson = JSON.stringify({ id: 'n', display_text: 'No' })
    const answer = { interactiveResponseMessage: { nativeFlowResponseMessage: { name: 'quick_reply', paramsJson } } }
    const taken = await inbound(await network.write(ann, account, answer))
    expect(taken).toMatchObject({ type: 'text', body: 'No' })
    const query = 'query ($id: ID!) { message(id: $id) { content } }'
    const asked = await client.api.graphql(query, { id: taken.id })
    expect(asked.body.data.message.content).toMatchObject({ kind: 'button', buttonId: 'n' })
  })

  it('shows that somebody is typing before a message, if it is set so', async () => {
    const account = '390000000003'
    const id = await client.pair(network, account, { pace: none, typing: true })
    await send(id, { text: 'Hi' })
    await arrivedFrom(account)
    const steps = network.requests.flatMap(({ tag, attrs, content }) => {
      if (tag === 'chatstate') return [`${(content as { tag: string }[])[0]?.tag} ${attrs.to}`]
      return tag === 'message' && attrs.to?.startsWith(ann) ? ['message'] : []
    })
    expect(steps.slice(-3)).toEqual([`composing ${ann}@s.whatsapp.net`, `paused ${ann}@s.whatsapp.net`, 'message'])
  })

  it('shows nothing of that and leaves messages unread, unless it is set so', async () => {
    const account = '390000000004'
    const id = await client.pair(network, account)
    const before = network.requests.filter(({ tag }) => tag === 'chatstate').length
    await send(id, { text: 'Hi' })
    await arrivedFrom(account)
    expect(network.requests.filter(({ tag }) => tag === 'chatstate').length).toBe(before)
    const stanzaId = await network.write(ann, account, { conversation: 'unread' })
    const taken = await inbound(stanzaId)
    await until(() => network.accounts.get(account)?.queue.size === 0)
    expect(readOf(stanzaId)).toEqual([])

    // A caller can say that it was read.
    const { status, body } = await client.api.post(`messages/${taken.id}/read`)
    expect([status, body.data.id]).toEqual([200, taken.id])
    await until(() => readOf(stanzaId).length === 1)
    const [sent] = (await client.api.get('messages?direction=outbound&limit=1')).body.data.messages
    const refused = await client.api.post(`messages/${sent.id}/read`)
    expect([refused.status, refused.body.error.code]).toEqual([409, 'INVALID_STATE'])
  })

  it('waits between two messages for as long as it is set', async () => {
    const account = '390000000005'
    const id = await client.pair(network, account, { pace: { minMs: 400, maxMs: 400 } })
    for (let i = 0; i < 4; i++) await send(id, { text: `${i}` })
    const arrived = await until(() => {
      const found = network.arrived.filter(({ from }) => from === account)
      return found.length === 4 ? found : undefined
    })
    expect(arrived.map(({ message }) => message.extendedTextMessage?.text)).toEqual(['0', '1', '2', '3'])
    const [first, last] = [arrived[0]?.at as number, arrived[3]?.at as number]
    // The first one may take longer, because it begins a session with its recipient.
    expect(last - first).toBeGreaterThan(2 * 400)
  })
})
