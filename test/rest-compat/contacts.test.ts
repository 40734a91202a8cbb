// REST rows of contacts: their records and refusals.
import { beforeAll, describe, expect, it } from 'vitest'
import { expectRefusal, moment, newNumber, nobody, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

function contactRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    name: 'Ada Lovelace',
    firstName: 'Ada',
    lastName: null,
    phone: '+393331234567',
    email: null,
    tags: [],
    custom: {},
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

async function create(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await tenant.api.post('contacts', { name: 'Ada Lovelace', phone: newNumber(), ...fields })
  expect(answer.status).toBe(201)
  return answer.body.data.id
}

describe('a contact', () => {
  it('is created, read, changed, listed and deleted', async () => {
    const { api } = rig.tenant
    const created = await api.post('contacts', { name: 'Ada Lovelace', phone: '+393331234567', id: nobody, nonsense: 1 })
    expect({ status: created.status, body: created.body }).toStrictEqual({ status: 201, body: { data: contactRecord() } })
    const { id } = created.body.data
    expect((await api.get(`contacts/${id}`)).body).toStrictEqual({ data: created.body.data })
    const fields = { lastName: 'King', email: 'ada@example.com', tags: ['vip', 'math'], custom: { order: '7', constructor: 'x' } }
    const changed = await api.put(`contacts/${id}`, fields)
    const record = contactRecord({ id, ...fields, createdAt: created.body.data.createdAt })
    expect({ status: changed.status, body: changed.body }).toStrictEqual({ status: 200, body: { data: record } })
    expect((await api.get('contacts')).body).toStrictEqual({ data: { contacts: [record], nextCursor: null, hasMore: false } })
    const gone = await api.delete(`contacts/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    expectRefusal(await api.get(`contacts/${id}`), 404, 'NOT_FOUND', 'Contact not found')
    expectRefusal(await api.delete(`contacts/${id}`), 404, 'NOT_FOUND', 'Contact not found')
    expect((await api.get('contacts')).body).toStrictEqual({ data: { contacts: [], nextCursor: null, hasMore: false } })
  })

  it('keeps a number to itself in its workspace, also when many come at once', async () => {
    const phone = newNumber()
    const race = await Promise.all(
      Array.from({ length: 20 }, (_, i) => rig.tenant.api.post('contacts', { name: `N ${i}`, phone })),
    )
    expect(race.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)])
    const refused = race.find(({ status }) => status === 409)
    if (refused) expectRefusal(refused, 409, 'CONFLICT', `Another contact has the number ${phone}`)
    const id = await create(rig.tenant)
    expectRefusal(
      await rig.tenant.api.put(`contacts/${id}`, { phone }),
      409,
      'CONFLICT',
      `Another contact has the number ${phone}`,
    )
    await create(rig.stranger, { phone })
  })
})
