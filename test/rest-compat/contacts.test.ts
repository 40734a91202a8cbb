// REST routes of contacts: their records and refusals. The tests in test/contacts cover pages and searches.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { badContacts } from './contact-bodies.ts'
import { expectRefusal, moment, newNumber, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

function contactRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    name: 'Ada Lovelace',
    firstName: 'Ada',
    lastName: 'Lovelace',
    phone: expect.stringMatching(/^\+\d+$/),
    email: null,
    tags: [],
    custom: {},
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

async function create(tenant: Tenant, fields: Record<string, unknown> = {}) {
  const answer = await tenant.api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data as Record<string, unknown> & { id: string; phone: string }
}

describe('a contact', () => {
  it('is created, read, changed, listed and deleted', async () => {
    const { api } = await newTenant(rig.gateway, rig.databaseUrl)
    const phone = newNumber()
    const created = await api.post('contacts', { name: 'Ada Lovelace', phone, id: nobody, nonsense: 1, createdAt: 'never' })
    expect({ status: created.status, body: created.body }).toStrictEqual({
      status: 201,
      body: { data: contactRecord({ phone }) },
    })
    const { id, createdAt } = created.body.data
    expect((await api.get(`contacts/${id}`)).body).toStrictEqual(created.body)
    const fields = {
      name: 'Augusta Ada King',
      firstName: 'Augusta',
      lastName: 'King',
      phone: newNumber(),
      email: 'ada@example.com',
      tags: ['vip', 'math'],
      custom: { order: '7', city: '' },
    }
    const changed = await api.put(`contacts/${id}`, { ...fields, id: nobody, createdAt: 'never' })
    const record = contactRecord({ id, createdAt, ...fields })
    expect({ status: changed.status, body: changed.body }).toStrictEqual({ status: 200, body: { data: record } })
    expect(Date.parse(changed.body.data.updatedAt)).toBeGreaterThan(Date.parse(createdAt))
    const list = await api.get('contacts')
    expect({ status: list.status, body: list.body }).toStrictEqual({
      status: 200,
      body: { data: { contacts: [record], nextCursor: null, hasMore: false } },
    })
    const gone = await api.delete(`contacts/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    expectRefusal(await api.get(`contacts/${id}`), 404, 'NOT_FOUND', 'Contact not found')
    expectRefusal(await api.put(`contacts/${id}`, { name: 'x' }), 404, 'NOT_FOUND', 'Contact not found')
    expectRefusal(await api.delete(`contacts/${id}`), 404, 'NOT_FOUND', 'Contact not found')
    expectRefusal(await api.get(`contacts/${id}/groups`), 404, 'NOT_FOUND', 'Contact not found')
    expect((await api.get('contacts')).body).toStrictEqual({ data: { contacts: [], nextCursor: null, hasMore: false } })
  })

  it.each([
    ['Ada Lovelace', 'Ada', 'Lovelace'],
    ['  Grace\tBrewster  Hopper ', 'Grace', 'Brewster  Hopper'],
    ['Madonna', 'Madonna', null],
    ['王\u3000小明', '王', '小明'],
  ])('named %j gets the first name %j and the last name %j unless they are given', async (name, firstName, lastName) => {
    expect(await create(rig.tenant, { name })).toMatchObject({ name, firstName, lastName })
    const given = { firstName: 'Other', lastName: 'One' }
    expect(await create(rig.tenant, { name, ...given })).toMatchObject({ name, ...given })
  })

  it('changes only the fields that are given; null clears a field or derives it again', async () => {
    const full = {
      name: 'Ada Lovelace',
      firstName: 'Augusta',
      lastName: 'King',
      phone: newNumber(),
      email: 'ada@example.com',
      tags: ['vip'],
      custom: { order: '7' },
    }
    const { id } = await create(rig.tenant, full)
    const put = async (fields: Record<string, unknown>) => (await rig.tenant.api.put(`contacts/${id}`, fields)).body.data
    const cleared = { firstName: 'Ada', lastName: 'Lovelace', email: null, tags: [], custom: {} }
    let now: Record<string, unknown> = { ...full }
    for (const field of ['firstName', 'lastName', 'email', 'tags', 'custom'] as const) {
      now = { ...now, [field]: cleared[field] }
      expect(await put({ [field]: null })).toStrictEqual(contactRecord({ id, ...now }))
    }
    now = { ...now, name: 'Grace Hopper', firstName: 'Grace', lastName: 'Hopper' }
    expect(await put({ name: 'Grace Hopper' })).toStrictEqual(contactRecord({ id, ...now }))
    for (const [field, value] of Object.entries({ tags: ['a', 'b'], custom: { a: '1' }, email: 'g@example.com' })) {
      now = { ...now, [field]: value }
      expect(await put({ [field]: value })).toStrictEqual(contactRecord({ id, ...now }))
    }
    expect(await put({ custom: { b: '2' } })).toMatchObject({ custom: { b: '2' } })
  })

  it('keeps each tag once, without surrounding blanks', async () => {
    const tags = ['vip', ' vip ', 'VIP', 'two words', 'vip', '👨‍👩‍👧']
    const { id } = await create(rig.tenant, { tags })
    const { body } = await rig.tenant.api.get(`contacts/${id}`)
    expect(body.data.tags).toEqual(['vip', 'VIP', 'two words', '👨‍👩‍👧'])
  })

  it('accepts the maximum length of every field', async () => {
    const fields = {
      name: '👍'.repeat(200),
      firstName: 'é'.repeat(200),
      lastName: 'x'.repeat(200),
      email: `${'a'.repeat(60)}@${'b'.repeat(60)}.${'c'.repeat(60)}.example`,
      tags: Array.from({ length: 50 }, (_, i) => `${10 + i}${'👍'.repeat(48)}`),
      custom: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`key${i}`.padEnd(100, 'x'), '👍'.repeat(1024)])),
    }
    const { id } = await create(rig.tenant, fields)
    expect((await rig.tenant.api.get(`contacts/${id}`)).body).toStrictEqual({ data: contactRecord({ id, ...fields }) })
  })

  it.each(badContacts)('is refused with %s, when created and when changed', async (_, body, message) => {
    const { id } = await create(rig.tenant)
    expectRefusal(await rig.tenant.api.post('contacts', body), 400, 'VALIDATION_ERROR', message)
    const isEmpty = JSON.stringify(body) === '{}'
    const outcome = isEmpty ? 'body: must change name, firstName, lastName, phone, email, tags or custom' : message
    expectRefusal(await rig.tenant.api.put(`contacts/${id}`, body), 400, 'VALIDATION_ERROR', outcome)
    expect((await rig.tenant.api.get(`contacts/${id}`)).body.data).toStrictEqual(contactRecord({ id }))
  })

  it.each(['constructor', 'toString', 'hasOwnProperty', 'valueOf', 'prototype', '__defineGetter__', 'length'])(
    'keeps a custom value called %s like any other',
    async (key) => {
      const { id } = await create(rig.tenant, { custom: { [key]: 'mine' } })
      expect((await rig.tenant.api.get(`contacts/${id}`)).body.data.custom).toStrictEqual({ [key]: 'mine' })
      const input = { name: 'Ada', phone: newNumber(), custom: { [key]: 'mine' } }
      const document = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { custom } }'
      expect((await rig.tenant.api.graphql(document, { input })).body.data.createContact.custom).toStrictEqual({ [key]: 'mine' })
    },
  )

  it('refuses a custom value called __proto__, over REST and GraphQL', async () => {
    const body = `{"name":"Ada","phone":"${newNumber()}","custom":{"__proto__":"x"}}`
    expectRefusal(await rig.tenant.api.post('contacts', body), 400, 'VALIDATION_ERROR', 'body: must not name __proto__')
    const written = `mutation { createContact(input: { name: "Ada", phone: "${newNumber()}", custom: { __proto__: "x" } }) { custom } }`
    const { body: answer } = await rig.tenant.api.graphql(written)
    expect(answer.errors[0]).toMatchObject({ message: 'JSON: must not name __proto__', extensions: { code: 'VALIDATION_ERROR' } })
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('has a unique number in its workspace, also under concurrent creation', async () => {
    const number = newNumber()
    const race = await Promise.all(
      Array.from({ length: 20 }, (_, i) => rig.tenant.api.post('contacts', { name: `N ${i}`, phone: number })),
    )
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    const outcome = `Another contact has the number ${number}`
    for (const answer of race.filter(({ status }) => status === 409)) expectRefusal(answer, 409, 'CONFLICT', outcome)
    const { id } = await create(rig.tenant)
    expectRefusal(await rig.tenant.api.put(`contacts/${id}`, { phone: number }), 409, 'CONFLICT', outcome)
    const winner = race.find(({ status }) => status === 201)?.body.data.id
    expect((await rig.tenant.api.put(`contacts/${winner}`, { phone: number })).status).toBe(200)
    await create(rig.stranger, { phone: number })
    await rig.tenant.api.delete(`contacts/${winner}`)
    expect((await rig.tenant.api.put(`contacts/${id}`, { phone: number })).body.data.phone).toBe(number)
  })

  it('is created once under one idempotency key', async () => {
    const body = { name: 'Ada', phone: newNumber() }
    const key = { 'idempotency-key': 'contact-1' }
    const first = await rig.tenant.api.post('contacts', body, key)
    const again = await rig.tenant.api.post('contacts', body, key)
    expect([first.status, again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 201, 'true'])
    expect(again.body).toStrictEqual(first.body)
    const input = { ...body, phone: newNumber(), idempotencyKey: 'contact-2' }
    const document = 'mutation ($input: CreateContactInput!) { createContact(input: $input) { id createdAt } }'
    const [one, other] = [await rig.tenant.api.graphql(document, { input }), await rig.tenant.api.graphql(document, { input })]
    expect(other.body).toStrictEqual(one.body)
  })

  it('keeps its messages when it is deleted', async () => {
    const { id, phone } = await create(rig.tenant)
    const message = { instanceId: rig.tenant.instance.id, to: phone, type: 'contact', contactId: id }
    const sent = await rig.tenant.api.post('messages/send', message)
    expect(sent.body.data.contactId).toBe(id)
    expect((await rig.tenant.api.delete(`contacts/${id}`)).status).toBe(200)
    expect((await rig.tenant.api.get(`messages/${sent.body.data.id}`)).body.data).toMatchObject({ contactId: null, to: phone })
  })

  it('can be read, changed and deleted, but not created, without an active subscription', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl, 'pro')
    const { id } = await create(tenant)
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
    expectRefusal(await tenant.api.post('contacts', {}), 403, 'SUBSCRIPTION_INACTIVE')
    expectRefusal(await tenant.api.post('contacts/groups', {}), 403, 'SUBSCRIPTION_INACTIVE')
    expect((await tenant.api.get(`contacts/${id}`)).status).toBe(200)
    expect((await tenant.api.put(`contacts/${id}`, { name: 'x' })).status).toBe(200)
    expect((await tenant.api.delete(`contacts/${id}`)).status).toBe(200)
  })

  it.each(['get', 'put', 'delete', 'get /groups'])('of another account is not found by %s', async (call) => {
    const { id } = await create(rig.tenant)
    const [method, path = ''] = call.split(' ') as ['get' | 'put' | 'delete', string?]
    const ask = (of: string) =>
      method === 'get' ? rig.stranger.api.get(`contacts/${of}${path}`) : rig.stranger.api[method](`contacts/${of}`, { name: 'x' })
    const foreign = await ask(id)
    expectRefusal(foreign, 404, 'NOT_FOUND', 'Contact not found')
    expect((await ask(nobody)).body).toEqual(foreign.body)
    expectRefusal(await ask('5'), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
    expect((await rig.tenant.api.get(`contacts/${id}`)).body).toStrictEqual({ data: contactRecord({ id }) })
  })
})

describe('a list of contacts', () => {
  it.each<[string, string, RegExp]>([
    ['limit', 'limit=0', /^limit: must be a whole number from 1 to 100$/],
    ['limit', 'limit=101', /^limit: /],
    ['limit', 'limit=1.5', /^limit: /],
    ['limit', 'limit=5&limit=6', /^limit: /],
    ['cursor', 'cursor=x', /^cursor: is not a cursor/],
    ['cursor', `cursor=${'x'.repeat(10_000)}`, /^cursor: is not a cursor/],
    ['sort', 'sort=phone:asc', /^sort: must be one of createdAt:desc, createdAt:asc, name:asc, name:desc$/],
    ['sort', 'sort=createdAt_desc', /^sort: must be one of/],
    ['search', `search=${'x'.repeat(101)}`, /^search: must have at most 100 characters$/],
    ['search', 'search=a&search=b', /^search: must be given once$/],
    ['search', 'search=%00', /^search: must not contain NUL/],
    ['tag', `tag=${'x'.repeat(51)}`, /^tag: must have at most 50 characters$/],
    ['groupId', 'groupId=5', /^groupId: must be a UUID$/],
  ])('refuses an invalid %s: %s', async (_, query, message) => {
    expectRefusal(await rig.tenant.api.get(`contacts?${query}`), 400, 'VALIDATION_ERROR', message)
  })
})
