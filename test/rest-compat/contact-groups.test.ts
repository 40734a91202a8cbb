// REST routes of contact groups and their members: records and refusals.
import { beforeAll, describe, expect, it } from 'vitest'
import { badGroups } from './contact-bodies.ts'
import { expectRefusal, moment, newNumber, newTenant, nobody, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig
let names = 0

beforeAll(async () => {
  rig = await openRig()
})

function groupRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    name: expect.any(String),
    description: null,
    membersCount: 0,
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

async function create(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await tenant.api.post('contacts/groups', { name: `Group ${++names}`, ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

/** Creates a contact that is in these groups and returns its id. */
async function addContact({ api }: Tenant, name: string, groupIds: string[], fields = {}): Promise<string> {
  const { id } = (await api.post('contacts', { name, phone: newNumber(), ...fields })).body.data
  for (const groupId of groupIds) await api.post(`contacts/groups/${groupId}/members`, { contactIds: [id] })
  return id
}

describe('a contact group', () => {
  it('is created, read, changed, listed and deleted; its contacts remain', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const { api } = tenant
    const created = await api.post('contacts/groups', { name: 'Friends', membersCount: 7, id: nobody })
    expect({ status: created.status, body: created.body }).toStrictEqual({
      status: 201,
      body: { data: groupRecord({ name: 'Friends' }) },
    })
    const { id, createdAt } = created.body.data
    const contactId = await addContact(tenant, 'Ada', [id])
    const one = groupRecord({ id, name: 'Friends', membersCount: 1, createdAt })
    expect((await api.get(`contacts/groups/${id}`)).body).toStrictEqual({ data: one })
    expect((await api.get(`contacts/${contactId}/groups`)).body).toStrictEqual({ data: [one] })
    const changed = await api.put(`contacts/groups/${id}`, { name: 'Family', description: 'All of them', membersCount: 0 })
    const record = { ...one, name: 'Family', description: 'All of them' }
    expect({ status: changed.status, body: changed.body }).toStrictEqual({ status: 200, body: { data: record } })
    const list = await api.get('contacts/groups')
    expect({ status: list.status, body: list.body }).toStrictEqual({
      status: 200,
      body: { data: { groups: [record], nextCursor: null, hasMore: false } },
    })
    const gone = await api.delete(`contacts/groups/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    for (const answer of [
      await api.get(`contacts/groups/${id}`),
      await api.put(`contacts/groups/${id}`, { name: 'x' }),
      await api.delete(`contacts/groups/${id}`),
      await api.get(`contacts/groups/${id}/members`),
    ]) {
      expectRefusal(answer, 404, 'NOT_FOUND', 'Contact group not found')
    }
    expect((await api.get(`contacts/${contactId}`)).status).toBe(200)
    expect((await api.get(`contacts/${contactId}/groups`)).body).toStrictEqual({ data: [] })
  })

  it('changes only the fields that are given; null clears a field', async () => {
    const id = await create(rig.tenant, { name: 'One', description: 'First' })
    const put = async (fields: Record<string, unknown>) => (await rig.tenant.api.put(`contacts/groups/${id}`, fields)).body.data
    expect(await put({ name: 'Two' })).toStrictEqual(groupRecord({ id, name: 'Two', description: 'First' }))
    expect(await put({ description: '' })).toStrictEqual(groupRecord({ id, name: 'Two', description: '' }))
    expect(await put({ description: null })).toStrictEqual(groupRecord({ id, name: 'Two' }))
    expect(await put({ name: 'Two', description: 'd' })).toStrictEqual(groupRecord({ id, name: 'Two', description: 'd' }))
  })

  it.each(badGroups)('is refused with %s, when created and when changed', async (_, body, message) => {
    const id = await create(rig.tenant, { name: `Kept ${names}` })
    const before = (await rig.tenant.api.get(`contacts/groups/${id}`)).body
    expectRefusal(await rig.tenant.api.post('contacts/groups', body), 400, 'VALIDATION_ERROR', message)
    const outcome = JSON.stringify(body) === '{}' ? 'body: must change name or description' : message
    expectRefusal(await rig.tenant.api.put(`contacts/groups/${id}`, body), 400, 'VALIDATION_ERROR', outcome)
    expect((await rig.tenant.api.get(`contacts/groups/${id}`)).body).toStrictEqual(before)
  })

  it('has a unique name in its workspace, also under concurrent creation', async () => {
    const race = await Promise.all(Array.from({ length: 20 }, () => rig.tenant.api.post('contacts/groups', { name: 'Only one' })))
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    for (const answer of race.filter(({ status }) => status === 409)) {
      expectRefusal(answer, 409, 'CONFLICT', 'Another group has the name Only one')
    }
    const id = await create(rig.tenant)
    const renamed = await rig.tenant.api.put(`contacts/groups/${id}`, { name: 'Only one' })
    expectRefusal(renamed, 409, 'CONFLICT', 'Another group has the name Only one')
    await create(rig.stranger, { name: 'Only one' })
    await create(rig.tenant, { name: 'only one' })
  })

  it.each([
    ['free', 10],
    ['pro', 50],
  ] as const)('is refused beyond the limit of plan %s, also under concurrent creation', async (plan, most) => {
    const { api } = await newTenant(rig.gateway, rig.databaseUrl, plan)
    for (let i = 0; i < most - 5; i++) expect((await api.post('contacts/groups', { name: `${i}` })).status).toBe(201)
    const race = await Promise.all(Array.from({ length: 20 }, (_, i) => api.post('contacts/groups', { name: `Race ${i}` })))
    expect(race.map(({ status }) => status).sort()).toEqual([...Array(5).fill(201), ...Array(15).fill(403)])
    for (const answer of race.filter(({ status }) => status === 403)) {
      expectRefusal(answer, 403, 'MAX_CONTACT_GROUPS_REACHED', 'The plan allows no more contact groups')
    }
    const { groups } = (await api.get('contacts/groups?limit=100')).body.data
    expect(groups).toHaveLength(most)
    expectRefusal(await api.post('contacts/groups', { name: groups[0].name }), 409, 'CONFLICT')
    expect((await api.put(`contacts/groups/${groups[0].id}`, { name: 'Renamed' })).status).toBe(200)
    await api.delete(`contacts/groups/${groups[0].id}`)
    expect((await api.post('contacts/groups', { name: 'Room again' })).status).toBe(201)
  })

  it.each(['get', 'put', 'delete', 'get /members'])('of another account is not found by %s', async (call) => {
    const id = await create(rig.tenant)
    const [method, path = ''] = call.split(' ') as ['get' | 'put' | 'delete', string?]
    const ask = (of: string) => {
      const address = `contacts/groups/${of}${path}`
      return method === 'get' ? rig.stranger.api.get(address) : rig.stranger.api[method](address, { name: 'x' })
    }
    const foreign = await ask(id)
    expectRefusal(foreign, 404, 'NOT_FOUND', 'Contact group not found')
    expect((await ask(nobody)).body).toEqual(foreign.body)
    expectRefusal(await ask('5'), 400, 'VALIDATION_ERROR', 'groupId: must be a UUID')
    expect((await rig.tenant.api.get(`contacts/groups/${id}`)).body.data).toStrictEqual(groupRecord({ id }))
  })
})

describe('the list of groups', () => {
  it('is paged, newest first', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const made: string[] = []
    for (let i = 0; i < 7; i++) made.unshift(await create(tenant))
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const address: string = `contacts/groups?limit=3${cursor ? `&cursor=${cursor}` : ''}`
      const { data } = (await tenant.api.get(address)).body
      expect(data.hasMore).toBe(data.nextCursor !== null)
      seen.push(...data.groups.map((group: { id: string }) => group.id))
      cursor = data.nextCursor
    } while (cursor)
    expect(seen).toEqual(made)
    const { nextCursor } = (await tenant.api.get('contacts/groups?limit=3')).body.data
    expectRefusal(await rig.stranger.api.get(`contacts/groups?cursor=${nextCursor}`), 400, 'VALIDATION_ERROR', /^cursor: /)
    expectRefusal(await tenant.api.get('contacts/groups?limit=101'), 400, 'VALIDATION_ERROR', /^limit: /)
  })
})

describe('the members of a group', () => {
  it('are listed by page with their join time and the total', async () => {
    const id = await create(rig.tenant)
    const [ada, bob] = [await addContact(rig.tenant, 'Ada', [id], { tags: ['vip'] }), await addContact(rig.tenant, 'Bob', [id])]
    const { status, body } = await rig.tenant.api.get(`contacts/groups/${id}/members`)
    const member = (fields: Record<string, unknown>) => ({
      phone: expect.stringMatching(/^\+\d+$/),
      tags: [],
      addedAt: moment,
      ...fields,
    })
    const members = [member({ id: bob, name: 'Bob' }), member({ id: ada, name: 'Ada', tags: ['vip'] })]
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: { data: { contacts: members, limit: 50, total: 2, nextCursor: null, hasMore: false } },
    })
    const first = (await rig.tenant.api.get(`contacts/groups/${id}/members?limit=1`)).body.data
    expect(first).toStrictEqual({
      contacts: [members[0]],
      limit: 1,
      total: 2,
      nextCursor: expect.any(String),
      hasMore: true,
    })
    const second = (await rig.tenant.api.get(`contacts/groups/${id}/members?limit=1&cursor=${first.nextCursor}`)).body.data
    expect(second).toStrictEqual({ contacts: [members[1]], limit: 1, total: 2, nextCursor: null, hasMore: false })
    const found = (await rig.tenant.api.get(`contacts/groups/${id}/members?search=ADA`)).body.data
    expect(found).toStrictEqual({ contacts: [members[1]], limit: 50, total: 1, nextCursor: null, hasMore: false })
  })

  it('leave with a deleted contact, and the count decreases', async () => {
    const [one, two] = [await create(rig.tenant), await create(rig.tenant)]
    const contactId = await addContact(rig.tenant, 'Ada', [one, two])
    await addContact(rig.tenant, 'Bob', [two])
    const groups = (await rig.tenant.api.get(`contacts/${contactId}/groups`)).body.data
    expect(groups.map((group: { id: string }) => group.id)).toEqual([one, two])
    await rig.tenant.api.delete(`contacts/${contactId}`)
    expect((await rig.tenant.api.get(`contacts/groups/${one}`)).body.data.membersCount).toBe(0)
    expect((await rig.tenant.api.get(`contacts/groups/${two}`)).body.data.membersCount).toBe(1)
    const { data } = (await rig.tenant.api.get(`contacts/groups/${two}/members`)).body
    expect([data.total, data.contacts.length]).toEqual([1, 1])
  })

  it.each<[string, RegExp]>([
    ['limit=0', /^limit: must be a whole number from 1 to 100$/],
    ['limit=101', /^limit: /],
    ['cursor=x', /^cursor: is not a cursor/],
    ['search=', /^search: must not be empty$/],
    [`search=${'x'.repeat(101)}`, /^search: must have at most 100 characters$/],
    ['search=%00', /^search: must not contain NUL/],
  ])('are not listed for the invalid query %s', async (query, message) => {
    const id = await create(rig.tenant)
    expectRefusal(await rig.tenant.api.get(`contacts/groups/${id}/members?${query}`), 400, 'VALIDATION_ERROR', message)
  })
})
