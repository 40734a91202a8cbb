// Messages of Meta's webhook: each kind is stored with the parts that matter, and its file is kept here.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { openApp, sweepExpired } from '../messages/rig.ts'
import { connect, type HookRig, type Line, messageOf, openHookRig, person } from './hook-rig.ts'

let rig: HookRig
let line: Line

beforeAll(async () => {
  rig = await openHookRig()
  line = await rig.line()
})

interface Shown {
  id: string
  from: string
  type: string
  body: string
  mediaUrl: string | null
  content: unknown
  status: string
  errorDetail: string | null
}

/** The graph's view of the message with that id of the network. */
async function shown(wamid: unknown): Promise<Shown> {
  const stored = (await rig.inbound(line)).find(({ providerMessageId }) => providerMessageId === wamid)
  const query = `query ($id: ID!) { message(id: $id) { id from type body mediaUrl content status errorDetail } }`
  const { body } = await rig.api.graphql(query, { id: stored?.id })
  expect(body.errors).toBeUndefined()
  return body.data.message
}

async function receive(message: Record<string, unknown>, contacts: Record<string, unknown>[] = []): Promise<Shown> {
  expect(await rig.tell(line, { messages: [message], contacts })).toBe(200)
  return await shown(message.id)
}

describe('a message', () => {
  const place = { latitude: 45.46, longitude: 9.19, name: 'Duomo', address: 'Piazza 1' }
  const card = { name: { formatted_name: 'Ann Lee', first_name: 'Ann' }, phones: [{ phone: '+39 333', wa_id: '39333' }] }
  const contacts = [
    { name: 'Ann Lee', phone: '+39 333' },
    { name: 'Bo', phone: null },
  ]
  const chosen = (type: string) => ({ type, [type]: { id: 'b1', title: 'Yes' } })
  it.each<[string, Record<string, unknown>, [type: string, body: string, content: object]]>([
    ['text', { text: { body: 'hello' } }, ['text', 'hello', { kind: 'text' }]],
    ['location', { location: place }, ['location', 'Duomo', { kind: 'location', ...place }]],
    [
      'location',
      { location: { latitude: 1, longitude: 2 } },
      ['location', '1, 2', { kind: 'location', latitude: 1, longitude: 2, name: null, address: null }],
    ],
    ['contacts', { contacts: [card, { name: { first_name: 'Bo' } }] }, ['contact', 'Ann Lee, Bo', { kind: 'contact', contacts }]],
    ['interactive', { interactive: chosen('button_reply') }, ['text', 'Yes', { kind: 'button', buttonId: 'b1' }]],
    ['interactive', { interactive: chosen('list_reply') }, ['text', 'Yes', { kind: 'list', buttonId: 'b1' }]],
    ['button', { button: { payload: 'b1', text: 'Yes' } }, ['text', 'Yes', { kind: 'button', buttonId: 'b1' }]],
    [
      'reaction',
      { reaction: { message_id: 'wamid.7', emoji: '👍' } },
      ['unknown', '👍', { kind: 'reaction', reactedTo: 'wamid.7' }],
    ],
    ['reaction', { reaction: { message_id: 'wamid.7' } }, ['unknown', '', { kind: 'reaction', reactedTo: 'wamid.7' }]],
    ['system', { system: { body: 'Ann changed', type: 'user_changed_number' } }, ['unknown', '', { kind: 'system' }]],
    ['unsupported', { errors: [{ code: 131051 }] }, ['unknown', '', { kind: 'unsupported' }]],
    ['order', { order: { catalog_id: '1' } }, ['unknown', '', { kind: 'unsupported' }]],
    ['constructor', {}, ['unknown', '', { kind: 'unsupported' }]],
  ])('of the type %s is stored once: %j', async (type, parts, [stored, body, content]) => {
    const from = person()
    const message = { ...messageOf(type, {}, from), ...parts }
    const first = await receive(message)
    expect(first).toMatchObject({ from: `+${from}`, type: stored, body, content, status: 'received', mediaUrl: null })
    expect(await receive(message)).toEqual(first)
  })

  it('names the message that it answers', async () => {
    const { content } = await receive({ ...messageOf('text', { body: 'yes' }), context: { from: '1', id: 'wamid.9' } })
    expect(content).toEqual({ kind: 'text', replyTo: 'wamid.9' })
  })

  it('is of no group where Meta names none', async () => {
    expect(await receive({ ...messageOf('text', { body: 'hi' }), group_id: null })).toMatchObject({ body: 'hi' })
  })

  it('of a person without a number is from the id that the network gives', async () => {
    const { from: _, ...message } = messageOf('text', { body: 'hi' })
    expect(await receive({ ...message, from_user_id: 'IT.abc123' })).toMatchObject({ from: 'IT.abc123', body: 'hi' })
    const { from: __, ...second } = messageOf('text', { body: 'hi' })
    const contacts = [{ profile: { name: 'Ann', username: 'ann' }, user_id: 'IT.def456' }]
    expect(await receive(second, contacts)).toMatchObject({ from: 'IT.def456' })
  })

  it('stands in one list with those that we sent', async () => {
    const { id } = await connectedInstance(rig.databaseUrl, rig.account)
    const place = { latitude: 1, longitude: 2, locationName: 'Here' }
    await rig.api.post('messages/send', { instanceId: id, to: `+${person()}`, type: 'location', ...place })
    const all = await rig.api.graphql('{ messages(first: 100) { nodes { body content } } }')
    expect(all.body.errors).toBeUndefined()
    const kinds = all.body.data.messages.nodes.map(({ content }: { content: { kind?: string } | null }) => content?.kind)
    expect(kinds).toEqual(expect.arrayContaining(['location', 'contact']))
  })

  it('is bounded, and without what PostgreSQL cannot store', async () => {
    const long = 'è'.repeat(20_000)
    const contacts = Array.from({ length: 100 }, () => ({ name: { formatted_name: `\u0001${'x'.repeat(300)}` } }))
    expect(Buffer.byteLength((await receive(messageOf('text', { body: `\0a\ud800${long}` }))).body)).toBeLessThanOrEqual(16_384)
    const { content } = await receive({ ...messageOf('contacts', {}), contacts })
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThanOrEqual(16_384)
  })
})

const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

describe('a file', () => {
  const changed = (wamid: unknown) =>
    until(async () => ((await shown(wamid)).mediaUrl ?? (await shown(wamid)).errorDetail) !== null && shown(wamid))

  it.each([
    ['image', {}, ['image', 'image']],
    ['sticker', {}, ['image', 'sticker']],
    ['document', { filename: 'a.png' }, ['document', 'document']],
    ['audio', { voice: true }, ['voice_note', 'voice_note']],
    ['audio', {}, ['audio', 'audio']],
    ['video', {}, ['video', 'video']],
  ])('of a message of the type %s %j is fetched and kept, and an event tells it', async (type, more, [stored, kind]) => {
    const { id } = rig.standIn.addMedia(line.number, 'image/png', png)
    const message = messageOf(type, { id, mime_type: 'image/png', caption: 'look', ...more })
    const { id: messageId } = await receive(message)
    const kept = await changed(message.id)
    expect(kept).toMatchObject({ type: stored, body: 'look', content: { kind }, errorDetail: null })
    expect(JSON.stringify(kept.content)).not.toContain(id)
    const bytes = Buffer.from(await (await fetch(kept.mediaUrl as string)).arrayBuffer())
    expect(bytes.equals(png)).toBe(true)
    const events = await until(async () => {
      const query = '{ events(last: 100, types: [message_updated]) { nodes { payload message { id mediaUrl } } } }'
      const { nodes } = (await rig.api.graphql(query)).body.data.events
      return nodes.find(({ payload }: { payload: { messageId: string } }) => payload.messageId === messageId)
    })
    expect(events).toMatchObject({
      payload: { mediaUrl: kept.mediaUrl, errorDetail: null },
      message: { mediaUrl: kept.mediaUrl },
    })
  })

  it('that Meta does not have, or that is of no type that we keep, leaves the message without it and says why', async () => {
    const zip = rig.standIn.addMedia(line.number, 'image/png', Buffer.from('504b0304140000000000', 'hex'))
    const gone = messageOf('image', { id: '123456' })
    const wrong = messageOf('document', { id: zip.id })
    for (const message of [gone, wrong]) await receive(message)
    expect(await changed(gone.id)).toMatchObject({ mediaUrl: null, errorDetail: expect.stringMatching(/\(100\)$/) })
    expect(await changed(wrong.id)).toMatchObject({
      mediaUrl: null,
      errorDetail: expect.stringMatching(/must be of a supported type/),
    })
  })

  it.each(['https://files.example.com/x', 'http://lookaside.fbsbx.com/x', 'https://evilfbsbx.com/x', 'file:///etc/passwd', ''])(
    'at %s is not asked for, because the token would go there',
    async (url) => {
      const upload = rig.standIn.addMedia(line.number, 'image/png', png)
      rig.standIn.addFault({ on: new RegExp(`GET ${upload.id}$`), effect: { bare: 200, body: JSON.stringify({ url }) } })
      const message = messageOf('image', { id: upload.id })
      await receive(message)
      expect(await changed(message.id)).toMatchObject({ errorDetail: 'the file is on a server that is not of the network' })
    },
  )

  it('is not looked for where its address redirects to', async () => {
    const upload = rig.standIn.addMedia(line.number, 'image/png', png)
    const location = `${rig.standIn.url}/files/${upload.id}?private`
    rig.standIn.addFault({ on: new RegExp(`GET .*files/${upload.id}$`), effect: { bare: 302, location } })
    const message = messageOf('image', { id: upload.id })
    await receive(message)
    await until(async () => (await shown(message.id)).errorDetail === 'the network did not give the file (302)')
    expect(rig.standIn.requests.filter(({ query }) => query.has('private'))).toEqual([])
  })

  it('is asked for again when Meta fails for a while, or refused the token, which disconnects the instance', async () => {
    await connect(rig, line)
    const messages = (['drop', { code: 190, status: 401 }] as const).map((effect) => {
      const upload = rig.standIn.addMedia(line.number, 'image/png', png)
      rig.standIn.addFault({ on: new RegExp(`GET ${upload.id}$`), effect })
      return messageOf('image', { id: upload.id })
    })
    for (const message of messages) await receive(message)
    await until(async () => (await rig.api.get(`instances/${line.id}`)).body.data.status === 'disconnected')
    for (const { id } of messages) {
      await until(async () => (await shown(id)).mediaUrl !== null)
      expect(await shown(id)).toMatchObject({ errorDetail: null })
    }
  })
})

it('a file goes with its message when that expires, unless something else uses it', async () => {
  const files: string[] = []
  for (const _ of ['goes', 'stays']) {
    const message = messageOf('image', { id: rig.standIn.addMedia(line.number, 'image/png', png).id })
    await receive(message)
    files.push(await until(async () => (await shown(message.id)).mediaUrl))
  }
  const [, used] = files
  const template = { name: 'Look', type: 'image', body: 'look', mediaUrl: used }
  expect((await rig.api.post('templates', template)).status).toBe(201)
  await rig.api.put('retention-settings', { messagesDays: 2 })
  await sql(rig.databaseUrl).query(`update messages set "createdAt" = now() - interval '3 days'`)
  await sweepExpired(await openApp(rig.databaseUrl, { PUBLIC_URL: rig.gateway.url }))
  // If the gateway has deleted the message, it deletes the file after that.
  const rows = () => sql(rig.databaseUrl).query("select from media where $1 like '%' || token || '%'", [files[0]])
  await until(async () => (await rows()).rowCount === 0)
  const statuses = await Promise.all(files.map(async (url) => (await fetch(url)).status))
  expect([statuses, await rig.inbound(line)]).toEqual([[404, 200], []])
  await rig.api.put('retention-settings', { messagesDays: null })
})
