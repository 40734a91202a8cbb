// Proves that hostile values in a request get the right answer at once, in the error envelope, and never a 5xx.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { promptly } from '../kit/promptly.ts'
import { messageRecord, newNumber, nobody, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'

let rig: Rig
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

/** A line separator: text, but no name, because Unicode counts it as white space. */
const blank = '\u2028'

const strings = [
  "'; drop table messages; --",
  '$1',
  '%',
  '_',
  '{{constructor.constructor("return 1")()}}',
  '$\u007b7*7}',
  '<script>alert(1)</script>',
  '=1+1',
  '\r\nX-Evil: 1',
  '\u001b[31m',
  blank,
  `a${blank}b`,
  '👨‍👩‍👧‍👦',
  'ﬀ',
  '../../etc/passwd',
]

describe('hostile values', () => {
  it.each(strings)('%j is stored and returned as ordinary text', async (value) => {
    const { status, body } = await asleep.api.post('messages/send', text(asleep, { text: value }))
    expect({ status, body }).toStrictEqual({ status: 201, body: { data: messageRecord(asleep, { body: value }) } })
    expect((await asleep.api.get(`messages/${body.data.id}`)).body.data.body).toBe(value)
    const name = value === blank ? 'x' : value
    const created = await asleep.api.post('instances', { name, settings: { [value]: value } })
    expect([created.status, created.body.data?.name]).toEqual([201, name])
    const { rows } = await sql(rig.databaseUrl).query('select settings from instances where id = $1', [created.body.data.id])
    expect(rows[0]?.settings).toEqual({ [value]: value })
    await asleep.api.delete(`instances/${created.body.data.id}`)
  })

  it.each(strings.filter((value) => value !== blank))('%j is accepted as a name, and a search finds it', async (value) => {
    const fields = { name: value, lastName: value, custom: { [value]: value } }
    const { status, body } = await asleep.api.post('contacts', { ...fields, phone: newNumber() })
    expect([status, body.data]).toEqual([201, expect.objectContaining(fields)])
    const group = await asleep.api.post('contacts/groups', { name: value, description: value })
    expect([group.status, group.body.data]).toEqual([201, expect.objectContaining({ name: value, description: value })])
    await asleep.api.post(`contacts/groups/${group.body.data.id}/members`, { contactIds: [body.data.id] })
    for (const list of ['contacts', `contacts/groups/${group.body.data.id}/members`]) {
      const found = await promptly(() => asleep.api.get(`${list}?search=${encodeURIComponent(value)}`))
      expect(found.body.data.contacts.map(({ id }: { id: string }) => id)).toContain(body.data.id)
    }
  })

  it('a blank is refused as a name, and accepted and found in every other text', async () => {
    const phone = newNumber()
    for (const [path, field, fields] of [
      ['instances', 'name', {}],
      ['contacts', 'name', { phone }],
      ['contacts', 'firstName', { phone, name: 'x' }],
      ['contacts', 'lastName', { phone, name: 'x' }],
      ['contacts/groups', 'name', {}],
    ] as const) {
      const answer = await promptly(() => asleep.api.post(path, { ...fields, [field]: blank }))
      expect400(answer, new RegExp(`^${field}: must not be blank$`))
    }
    const fields = { name: `a${blank}`, custom: { [blank]: blank } }
    const { status, body } = await asleep.api.post('contacts', { ...fields, phone })
    expect([status, body.data]).toEqual([201, expect.objectContaining(fields)])
    const found = await promptly(() => asleep.api.get(`contacts?search=${encodeURIComponent(blank)}`))
    expect(found.body.data.contacts.map(({ id }: { id: string }) => id)).toContain(body.data.id)
    const group = await asleep.api.post('contacts/groups', { name: 'x', description: blank })
    expect([group.status, group.body.data]).toEqual([201, expect.objectContaining({ name: 'x', description: blank })])
  })

  it.each(['\0', '\ud800', '\udfff', 'a\ud800\ud800', 'x\0x'])('%j is refused, and the field is named', async (value) => {
    const button = { type: 'reply', displayText: 'Yes', id: 'a' }
    const buttons = { type: 'buttons', description: 'x', buttons: [button] }
    const bodies: [path: string, fields: Record<string, unknown>][] = [
      ['text', { type: 'text', text: value }],
      ['mediaUrl', { type: 'image', mediaUrl: `https://example.com/${value}` }],
      ['mediaUrl', { type: 'text', text: 'x', mediaUrl: value }],
      ['locationName', { type: 'location', latitude: 0, longitude: 0, locationName: value }],
      ['locationAddress', { type: 'location', latitude: 0, longitude: 0, locationAddress: value }],
      ['title', { ...buttons, title: value }],
      ['description', { ...buttons, description: value }],
      ['footer', { ...buttons, footer: value }],
      ['buttons.0.id', { ...buttons, buttons: [{ ...button, id: value }] }],
      ['buttons.0.displayText', { ...buttons, buttons: [{ ...button, displayText: value }] }],
      ['variables.a', { templateId: nobody, variables: { a: value } }],
      ['to', { type: 'text', text: 'x', to: `+39333123456${value}` }],
      ['instanceId', { type: 'text', text: 'x', instanceId: value }],
    ]
    for (const [path, fields] of bodies) {
      expect400(await promptly(() => asleep.api.post('messages/send', text(asleep, fields))), new RegExp(`(^|; )${path}: `))
    }
    for (const query of ['to', 'instanceId', 'cursor', 'createdFrom']) {
      const encoded = value.isWellFormed() ? encodeURIComponent(value) : '%ed%a0%80'
      expect400(await promptly(() => asleep.api.get(`messages?${query}=${encoded}`)), new RegExp(`^${query}: `))
    }
  })

  it.each(['\0', '\ud800', 'a\ud800\ud800', 'x\0x'])('%j in contacts and groups is refused by field name', async (value) => {
    const contactFields: [path: string, fields: Record<string, unknown>][] = [
      ['name', { name: value }],
      ['firstName', { firstName: value }],
      ['lastName', { lastName: value }],
      ['phone', { phone: `+39333123456${value}` }],
      ['email', { email: `${value}@example.com` }],
      ['tags.1', { tags: ['a', value] }],
      ['custom.a', { custom: { a: value } }],
      ['custom', { custom: { [value]: 'a' } }],
    ]
    for (const [path, fields] of contactFields) {
      const body = { name: 'x', phone: newNumber(), ...fields }
      expect400(await promptly(() => asleep.api.post('contacts', body)), new RegExp(`(^|; )${path}: `))
    }
    for (const field of ['name', 'description']) {
      const body = { name: 'x', [field]: value }
      expect400(await promptly(() => asleep.api.post('contacts/groups', body)), new RegExp(`^${field}: `))
    }
    // In a query string, an encoding that is not valid UTF-8 is kept as literal text, so it is not refused.
    if (!value.isWellFormed()) return
    const group = (await asleep.api.post('contacts/groups', { name: `Group ${newNumber()}` })).body.data.id
    for (const [list, query] of [
      ['contacts', 'search'],
      ['contacts', 'tag'],
      ['contacts', 'groupId'],
      ['contacts', 'cursor'],
      [`contacts/groups/${group}/members`, 'search'],
      [`contacts/groups/${group}/members`, 'cursor'],
    ]) {
      const answer = await promptly(() => asleep.api.get(`${list}?${query}=${encodeURIComponent(value)}`))
      expect400(answer, new RegExp(`^${query}: `))
    }
  })

  it('a document with 250,000 blanks in a value of the wrong type is refused at once', async () => {
    const document = `{ messages(first: "${' '.repeat(250_000)}") { nodes { id } } }`
    const { body } = await promptly(() => asleep.api.graphql(document), { withinMs: 500 })
    expect(body.errors[0].extensions.code).toBe('VALIDATION_ERROR')
  })

  it.each(['a', '1', '+', ' ', '-', 'é', '{{', '%', '/', '.', '0-0'])(
    '50 KB of %j in any field is validated at once',
    async (part) => {
      const value = part.repeat(50_000 / part.length)
      for (const field of [
        'instanceId',
        'to',
        'type',
        'templateId',
        'contactId',
        'text',
        'mediaUrl',
        'title',
        'description',
        'locationName',
      ]) {
        const fields = field === 'mediaUrl' ? { type: 'image' } : {}
        const answer = await promptly(() => asleep.api.post('messages/send', text(asleep, { ...fields, [field]: value })))
        // A field that no rule of the message type reads is ignored.
        if (answer.status !== 201) expect400(answer, new RegExp(`${field}: `))
      }
      for (const field of ['name', 'firstName', 'lastName', 'phone', 'email', 'tags', 'custom']) {
        const wrong = { tags: [value], custom: { a: value, [value]: 'a' } }[field] ?? value
        const body = { name: 'x', phone: newNumber(), [field]: wrong }
        expect400(await promptly(() => asleep.api.post('contacts', body)), new RegExp(`^${field}[.:]`))
      }
      expect400(await promptly(() => asleep.api.post('contacts/groups', { name: value })), /^name: /)
      expect400(
        await promptly(() => asleep.api.post('messages/schedule', text(asleep, { scheduledAt: value }))),
        /^scheduledAt: /,
      )
      expect400(
        await promptly(() => asleep.api.post('webhooks', { url: value, events: [value] })),
        /url: .*events\.0: |events\.0: .*url: /,
      )
    },
  )

  it.each(['1e400', '-1e400', '90.0000000000001', '"NaN"', '[90]'])('%s is refused as a latitude', async (latitude) => {
    const body = JSON.stringify({ ...text(asleep), type: 'location', latitude: 0, longitude: 0 })
    const answer = await promptly(() => asleep.api.post('messages/send', body.replace('"latitude":0', `"latitude":${latitude}`)))
    expect400(answer, /^latitude: must be (a number|at (most|least) -?90)$/)
  })

  it('a field that the caller may not set is not stored', async () => {
    const forged = {
      id: nobody,
      userId: rig.stranger.account.userId,
      workspaceId: rig.stranger.account.workspaceId,
      status: 'read',
      direction: 'inbound',
      from: '+393331234567',
      createdAt: '2001-01-01T00:00:00Z',
      safety: { score: 1 },
      campaignId: nobody,
      countedPeriod: null,
    }
    const { body } = await asleep.api.post('messages/send', text(asleep, { ...forged, to: newNumber() }))
    expect(body.data).toStrictEqual(messageRecord(asleep, { body: 'Hello' }))
    const instance = await asleep.api.post('instances', {
      name: 'x',
      status: 'connected',
      waNumber: '+393331234567',
      userId: nobody,
      workspaceId: nobody,
    })
    expect(instance.body.data).toMatchObject({ status: 'created', waNumber: null })
    expect((await asleep.api.get(`instances/${instance.body.data.id}`)).status).toBe(200)
  })
})

function expect400({ status, body }: Answer, message: RegExp): void {
  expect({ status, code: body.error?.code }).toEqual({ status: 400, code: 'VALIDATION_ERROR' })
  expect(body.error.message).toMatch(message)
}
