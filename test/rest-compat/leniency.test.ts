// Requests that are written in an unusual way: taken where nothing is lost, refused where something would be. Each on REST and on the graph.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Answer } from '../kit/api.ts'
import { newPerson, openRig as openPeople } from '../teams/rig.ts'
import { campaign, expectRefusal, newNumber, newTenant, nobody, openRig, type Rig, type Tenant, template, text } from './rig.ts'

let rig: Rig
/** Its instance is disconnected, so its messages wait. */
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = await newTenant(rig.gateway, rig.databaseUrl)
  asleep = { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
})

/** Sends an input to a route and to the mutation behind it. The graph's answer has the form of REST's. */
async function both(path: string, mutation: string, type: string, input: unknown, fields = 'id'): Promise<Answer[]> {
  const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) { ${fields} } }`
  const graph = await asleep.api.graphql(document, { input })
  const [error] = graph.body.errors ?? []
  const body = error ? { error: { code: error.extensions.code, message: error.message } } : { data: graph.body.data[mutation] }
  return [await asleep.api.post(path, input), { ...graph, status: error ? 400 : 201, body }]
}

const send = (input: unknown, fields?: string) => both('messages/send', 'sendMessage', 'SendMessageInput', input, fields)

function expectFault(answers: readonly Answer[], message: string | RegExp, code = 'VALIDATION_ERROR'): void {
  for (const { body } of answers) {
    expect(body.error.code).toBe(code)
    expect(body.error.message).toMatch(message)
  }
}

describe('null is left out', () => {
  it('in every optional field of a send, of a bulk item and of a template', async () => {
    const nothing = {
      templateId: null,
      contactId: null,
      variables: null,
      mediaUrl: null,
      latitude: null,
      buttons: null,
      title: null,
    }
    for (const { status, body } of await send(text(asleep, nothing))) expect([status, body.error]).toEqual([201, undefined])
    expect((await asleep.api.post('messages/send', text(asleep, { scheduledAt: null }))).status).toBe(201)
    const messages = [text(asleep, { ...nothing, scheduledAt: null })]
    for (const { body } of await both('messages/bulk', 'sendMessages', 'SendMessagesInput', { messages }, 'accepted { index }')) {
      expect(body.data.accepted).toMatchObject([{ index: 0 }])
    }
    expect((await asleep.api.post('templates', template({ mediaUrl: null }))).status).toBe(201)
  })

  it('in the settings of a new instance', async () => {
    const input = { name: 'Linked', provider: 'web', settings: { pace: null, buttons: null, typing: null, markRead: null } }
    const [rest, graph] = await both('instances', 'createInstance', 'CreateInstanceInput', input, 'settings')
    expect([rest?.status, rest?.body.error]).toEqual([201, undefined])
    const settings = { pace: { minMs: 1000, maxMs: 3000 }, buttons: 'text', typing: false, markRead: false }
    expect(graph?.body).toEqual({ data: { settings } })
  })

  it('in variables and custom, which take numbers and booleans as text', async () => {
    const given = { order: 7, price: 1.5, paid: true, none: null, word: 'x' }
    const kept = { order: '7', price: '1.5', paid: 'true', word: 'x' }
    const answers = [0, 1].map(() => ({ name: 'Ada', phone: newNumber(), custom: given }))
    const rest = await asleep.api.post('contacts', answers[0])
    const create = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { custom } }'
    const graph = await asleep.api.graphql(create, { input: answers[1] })
    expect([rest.body.data.custom, graph.body.data.createContact.custom]).toEqual([kept, kept])
    const body = '{{custom.order}} {{custom.price}} {{custom.paid}} {{custom.none | default: "-"}}'
    const { id: templateId } = (await asleep.api.post('templates', template({ body }))).body.data
    const sent = await send({ instanceId: asleep.instance.id, to: newNumber(), templateId, variables: given }, 'body')
    expect(sent.map((answer) => answer.body.data.body)).toEqual(['7 1.5 true -', '7 1.5 true -'])
    const recipients = [{ to: newNumber(), variables: given }]
    const { name } = campaign(asleep)
    const made = await asleep.api.post('campaigns', { name, instanceId: asleep.instance.id, templateId, recipients })
    expect(made.status).toBe(201)
  })
})

describe('a message that would lose a part of it', () => {
  it('is refused: a file beside a text, and a text beside a template, also in a bulk and in a campaign', async () => {
    const mediaUrl = 'https://files.example.com/a.png'
    const { id: templateId } = (await asleep.api.post('templates', template({ body: 'x' }))).body.data
    const faults: [fields: Record<string, unknown>, message: string][] = [
      [{ mediaUrl }, 'mediaUrl: cannot be given with type text'],
      [{ type: undefined, templateId }, 'text: cannot be given together with templateId'],
    ]
    for (const [fields, message] of faults) {
      expectFault(await send(text(asleep, fields)), message)
      expectRefusal(await asleep.api.post('campaigns', campaign(asleep, fields)), 400, 'VALIDATION_ERROR', message)
      const { rejected } = (await asleep.api.post('messages/bulk', { messages: [text(asleep, fields)] })).body.data
      expect(rejected).toEqual([{ index: 0, code: 'VALIDATION_ERROR', message }])
    }
  })
})

describe('a name of blanks only is refused', () => {
  // A no-break space, a tab, an em space, an ideographic space, and a next-line control: all white space by Unicode.
  const name = ' \u00a0\t\u2003\u3000\u0085'
  it.each<[path: string, mutation: string, type: string, fields: Record<string, unknown>]>([
    ['contacts', 'createContact', 'CreateContactInput', { phone: '+4915112345678' }],
    ['contacts/groups', 'createContactGroup', 'CreateContactGroupInput', {}],
    ['templates', 'createTemplate', 'CreateTemplateInput', { type: 'text', body: 'x' }],
    ['instances', 'createInstance', 'CreateInstanceInput', {}],
    [
      'campaigns',
      'createCampaign',
      'CreateCampaignInput',
      { type: 'text', text: 'x', instanceId: nobody, recipients: [{ to: '+4915112345678' }] },
    ],
  ])('%s', async (path, mutation, type, fields) => {
    expectFault(await both(path, mutation, type, { ...fields, name }), /^name: must not be blank$/)
  })

  it('of people, teams and keys, too; other names are stored as they are', async () => {
    const people = openPeople()
    const person = await newPerson(people)
    const message = 'name: must not be blank'
    const signUp = { email: 'blank@example.com', password: 'correct horse', name }
    expectRefusal(await person.api.post('/api/auth/signup', signUp), 400, 'VALIDATION_ERROR', message)
    for (const path of ['/api/teams', '/api/api-keys']) {
      expectRefusal(await person.api.post(path, { name }), 400, 'VALIDATION_ERROR', message)
    }
    expect((await person.api.post('/api/teams', { name: ' Team ' })).body.data.name).toBe(' Team ')
  })
})

describe('an empty value is left out', () => {
  it('of the header X-Team-Id', async () => {
    const empty = { 'x-team-id': '' }
    expect((await rig.tenant.api.get('contacts', empty)).status).toBe(200)
    expect((await rig.tenant.api.graphql('{ instances { id } }', {}, empty)).body.errors).toBeUndefined()
    const person = await newPerson(openPeople())
    expect((await person.api.get('/api/contacts', empty)).status).toBe(200)
    expect((await person.api.graphql('{ instances { id } }', {}, empty)).body.errors).toBeUndefined()
  })

  it('of a query parameter, except the search among the members of a group', async () => {
    const { api } = rig.tenant
    for (const query of ['contacts?cursor=&search=&tag=&groupId=&limit=&sort=', 'messages?status=&to=&createdFrom=&contactId=']) {
      expect((await api.get(query)).status, query).toBe(200)
    }
    expectRefusal(await api.get('messages/history?phone='), 400, 'VALIDATION_ERROR', 'phone: is required')
    const { id } = (await api.post('contacts/groups', { name: 'Empty values' })).body.data
    expectRefusal(await api.get(`contacts/groups/${id}/members?search=`), 400, 'VALIDATION_ERROR', /^search: /)
  })
})

it('a trailing slash is the same route, on REST, on /graphql and on the streams', async () => {
  const { api, account } = rig.tenant
  expect((await api.get('me/')).body).toEqual((await api.get('me')).body)
  expect((await api.get('contacts/')).status).toBe(200)
  expect((await api.post('messages/send/', text(asleep, { instanceId: rig.tenant.instance.id }))).status).toBe(201)
  const deleted = await fetch(`${rig.gateway.url}/api/v1/me/`, { method: 'DELETE', headers: { 'x-api-key': account.apiKey } })
  expect([deleted.status, deleted.headers.get('allow')]).toEqual([405, 'GET'])
  for (const path of ['/graphql/', '/graphql/stream/', '/api/v1/events/stream/?types=&after=']) {
    const abort = new AbortController()
    const headers = { 'x-api-key': account.apiKey, accept: 'text/event-stream', 'content-type': 'application/json' }
    const post = { method: 'POST', body: JSON.stringify({ query: '{ plans { code } }' }) }
    const answer = await fetch(rig.gateway.url + path, {
      headers,
      signal: abort.signal,
      ...(path.startsWith('/graphql') && post),
    })
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, expect.stringMatching(/event-stream/)])
    abort.abort()
  }
})

it.each<[path: string, mutation: string, type: string]>([
  ['contacts', 'updateContact', 'UpdateContactInput'],
  ['contacts/groups', 'updateContactGroup', 'UpdateContactGroupInput'],
  ['templates', 'updateTemplate', 'UpdateTemplateInput'],
])('a malformed id beside a wrong body names both: PUT %s', async (path, mutation, type) => {
  const document = `mutation ($id: ID!, $input: ${type}!) { ${mutation}(id: $id, input: $input) { id } }`
  for (const name of ['', 5]) {
    const message = /^(id|groupId): must be a UUID; name: must /
    expectRefusal(await asleep.api.put(`${path}/x`, { name }), 400, 'VALIDATION_ERROR', message)
    const { errors } = (await asleep.api.graphql(document, { id: 'x', input: { name } })).body
    expect([errors[0].extensions.code, errors[0].message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(message)])
  }
  expectRefusal(await asleep.api.put(`${path}/x`, ['x']), 400, 'VALIDATION_ERROR', /^(id|groupId): must be a UUID; body: must be/)
})

it('a malformed group beside malformed contacts names both', async () => {
  const message = 'groupId: must be a UUID; contactIds.0: must be a UUID'
  expectRefusal(await asleep.api.post('contacts/groups/x/members', { contactIds: ['y'] }), 400, 'VALIDATION_ERROR', message)
})

it('a bulk that is no object is named by its body', async () => {
  expectRefusal(await asleep.api.post('messages/bulk', ['x']), 400, 'VALIDATION_ERROR', 'body: must be a JSON object')
})

describe('the number of a contact is its conversation', () => {
  it('a send, a bulk item and a campaign message to it carry the contact', async () => {
    const { api } = asleep
    const to = newNumber()
    const { id } = (await api.post('contacts', { name: 'Ada', phone: to })).body.data
    const sent = await send(text(asleep, { to }), 'contactId')
    expect(sent.map((answer) => answer.body.data.contactId)).toEqual([id, id])
    const scheduledAt = new Date(Date.now() + 60_000).toISOString()
    expect((await api.post('messages/schedule', text(asleep, { to, scheduledAt }))).body.data.contactId).toBe(id)
    const { accepted } = (await api.post('messages/bulk', { messages: [text(asleep), text(asleep, { to })] })).body.data
    const [stranger, known] = await Promise.all(
      accepted.map(async (item: { id: string }) => (await api.get(`messages/${item.id}`)).body.data.contactId),
    )
    expect([stranger, known]).toEqual([null, id])
    const list = (await api.get(`messages?contactId=${id}`)).body.data.messages
    expect(list.map((message: { contactId: string }) => message.contactId)).toEqual([id, id, id, id])
  })

  it('in a message of type contact, contactId names the shared one', async () => {
    const to = newNumber()
    await asleep.api.post('contacts', { name: 'Recipient', phone: to })
    const { id } = (await asleep.api.post('contacts', { name: 'Shared', phone: newNumber() })).body.data
    const input = { instanceId: asleep.instance.id, to, type: 'contact', contactId: id }
    for (const { body } of await send(input, 'contactId body')) expect(body.data).toMatchObject({ contactId: id, body: 'Shared' })
  })

  it('belongs to one workspace', async () => {
    const to = newNumber()
    await rig.stranger.api.post('contacts', { name: 'Eve', phone: to })
    expect((await asleep.api.post('messages/send', text(asleep, { to }))).body.data.contactId).toBeNull()
  })
})

describe('names that were derived follow the name', () => {
  const change =
    'mutation ($id: ID!, $input: UpdateContactInput!) { updateContact(id: $id, input: $input) { firstName lastName } }'

  it.each<[given: object, change: object, firstName: string, lastName: string | null]>([
    [{}, { name: 'Quentin van Roe' }, 'Quentin', 'van Roe'],
    [{}, { name: 'Quentin' }, 'Quentin', null],
    [{ firstName: 'Zoe' }, { name: 'Quentin Roe' }, 'Zoe', 'Roe'],
    [{ lastName: 'Miller' }, { name: 'Quentin Roe' }, 'Quentin', 'Miller'],
    [{ firstName: 'Z', lastName: 'M' }, { name: 'Quentin Roe', lastName: null }, 'Z', 'Roe'],
    [{ firstName: 'Z' }, { firstName: null }, 'Zoe', 'Miller'],
    [{}, { email: 'zoe@example.com' }, 'Zoe', 'Miller'],
  ])('with %j given and %j changed', async (given, input, firstName, lastName) => {
    const create = async () =>
      (await asleep.api.post('contacts', { name: 'Zoe Miller', phone: newNumber(), ...given })).body.data.id
    const rest = await asleep.api.put(`contacts/${await create()}`, input)
    expect(rest.body.data).toMatchObject({ firstName, lastName })
    const graph = await asleep.api.graphql(change, { id: await create(), input })
    expect(graph.body.data.updateContact).toEqual({ firstName, lastName })
  })
})
