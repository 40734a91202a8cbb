// GET contacts/export.csv and GET messages/export.csv: which records they have, in which form, and who gets them.
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it } from 'vitest'
import { importAll } from '../contacts/import-rig.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, newTenant, nobody, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  rig = await openRig()
  tenant = rig.tenant
})

async function exported(path: string, from: Tenant = tenant): Promise<Record<string, string>[]> {
  const { status, body, headers } = await from.api.get(path)
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8'])
  expect(body).toMatch(/\n$/)
  return parse(body as string, { columns: true })
}

describe('contacts/export.csv', () => {
  const ada = {
    name: 'Ada, "Countess"',
    phone: '+4915112345611',
    email: 'ada@example.com',
    tags: ['a', 'b'],
    custom: { city: '=Bonn' },
  }
  const bob = { name: '@bob\nsecond line', phone: '+4915112345612', custom: { zip: '53111' } }

  beforeAll(async () => {
    for (const contact of [ada, bob]) expect((await tenant.api.post('contacts', contact)).status).toBe(201)
  })

  it('has the fields of the record, a column for each key of custom, and escaped cells', async () => {
    const rows = await exported('contacts/export.csv?sort=createdAt:asc')
    const contacts = (await tenant.api.get('contacts?sort=createdAt:asc')).body.data.contacts
    expect(Object.keys(rows[0] ?? {})).toEqual(
      Object.keys(contacts[0]).flatMap((name) => (name === 'custom' ? ['custom.city', 'custom.zip'] : [name])),
    )
    expect(rows).toEqual([
      {
        ...contacts[0],
        phone: `'${ada.phone}`,
        tags: 'a,b',
        custom: undefined,
        'custom.city': "'=Bonn",
        'custom.zip': '',
        lastName: contacts[0].lastName ?? '',
      },
      {
        ...contacts[1],
        name: "'@bob\nsecond line",
        firstName: `'${contacts[1].firstName}`,
        lastName: contacts[1].lastName ?? '',
        phone: `'${bob.phone}`,
        email: '',
        tags: '',
        custom: undefined,
        'custom.city': '',
        'custom.zip': '53111',
      },
    ])
  })

  it('leaves the cell of a key empty for a contact without it, whatever the key is named', async () => {
    const empty = await newTenant(rig.gateway, rig.databaseUrl)
    const custom = { constructor: 'Ada', toString: 'Bob' }
    await empty.api.post('contacts', { name: 'With', phone: ada.phone, custom })
    await empty.api.post('contacts', { name: 'Without', phone: bob.phone })
    const rows = await exported('contacts/export.csv?sort=name:asc', empty)
    const cells = rows.map((row) => [row['custom.constructor'], row['custom.toString']])
    expect(cells).toEqual([
      ['Ada', 'Bob'],
      ['', ''],
    ])
  })

  it('is what an import takes back', async () => {
    const other = await newTenant(rig.gateway, rig.databaseUrl)
    const { body } = await tenant.api.get('contacts/export.csv')
    expect((await importAll(rig.gateway, other.account.apiKey, body)).summary).toMatchObject({ created: 2, invalid: [] })
    const fieldsOf = async ({ api }: Tenant) =>
      (await api.get('contacts?sort=name:asc')).body.data.contacts.map(
        ({ id: _, createdAt: __, updatedAt: ___, ...fields }: Record<string, unknown>) => fields,
      )
    expect(await fieldsOf(other)).toEqual(await fieldsOf(tenant))
  })

  it('leaves parts of a name that followed it to follow it, after an import into another workspace or into its own', async () => {
    const owner = await newTenant(rig.gateway, rig.databaseUrl)
    const other = await newTenant(rig.gateway, rig.databaseUrl)
    const contacts = [
      { name: 'Zoe Ann Miller', phone: '+4915112345613' },
      { name: 'Zoe Ann Miller', phone: '+4915112345614', firstName: 'Zoe', lastName: 'Smith' },
    ]
    for (const contact of contacts) expect((await owner.api.post('contacts', contact)).status).toBe(201)
    const { body } = await owner.api.get('contacts/export.csv')
    for (const { account } of [owner, other]) {
      const job = await importAll(rig.gateway, account.apiKey, body, { onConflict: 'update' })
      expect(job.summary.created + job.summary.updated).toBe(2)
    }
    const renamed = async ({ api }: Tenant) => {
      const { data } = (await api.get('contacts')).body
      const found: unknown[] = []
      for (const { phone } of contacts) {
        const { id } = data.contacts.find((contact: { phone: string }) => contact.phone === phone)
        const { firstName, lastName } = (await api.put(`contacts/${id}`, { name: 'Quentin Roe' })).body.data
        found.push([firstName, lastName])
      }
      return found
    }
    const follows = ['Quentin', 'Roe']
    expect(await renamed(owner)).toEqual([follows, ['Zoe', 'Smith']])
    // The file does not tell whether a first name that the name gives as well was given.
    expect(await renamed(other)).toEqual([follows, ['Quentin', 'Smith']])
  })

  it('takes the filters and the sort of the list', async () => {
    const names = async (query: string) => (await exported(`contacts/export.csv?${query}`)).map(({ phone }) => phone)
    expect(await names('search=countess')).toEqual([`'${ada.phone}`])
    expect(await names('tag=a')).toEqual([`'${ada.phone}`])
    expect(await names(`groupId=${nobody}`)).toEqual([])
    expect(await names('sort=name:asc')).toEqual([`'${bob.phone}`, `'${ada.phone}`])
  })

  it('has every contact once, over all pages', async () => {
    const { account, ...other } = await newTenant(rig.gateway, rig.databaseUrl)
    await sql(rig.databaseUrl).query(
      `insert into contacts (id, "workspaceId", name, phone, tags)
       select gen_random_uuid(), $1, 'C', '+4930' || (1000000 + n), '{}' from generate_series(1, 350) n`,
      [account.workspaceId],
    )
    const rows = await exported('contacts/export.csv', { account, ...other })
    expect([rows.length, new Set(rows.map(({ id }) => id)).size]).toEqual([350, 350])
  })

  it.each([
    [`groupId=x`, 'groupId: must be a UUID'],
    ['sort=size', /^sort: must be one of/],
  ])('refuses ?%s with 400', async (query, message) => {
    expectRefusal(await tenant.api.get(`contacts/export.csv?${query}`), 400, 'VALIDATION_ERROR', message)
  })
})

describe('messages/export.csv', () => {
  it('has the fields of the record in both directions, nested ones by their path', async () => {
    const id = (await tenant.api.post('messages/send', text(tenant, { text: '-1 offer' }))).body.data.id
    await until(async () => (await tenant.api.get(`messages/${id}`)).body.data.status === 'read')
    const message = (await tenant.api.get(`messages/${id}`)).body.data
    const [row] = await exported(`messages/export.csv?to=${encodeURIComponent(message.to)}`)
    expect(Object.keys(row ?? {})).toEqual(
      Object.keys(message).flatMap((name) =>
        name === 'safety' ? Object.keys(message.safety).map((key) => `safety.${key}`) : [name],
      ),
    )
    expect(row).toMatchObject({
      id,
      body: "'-1 offer",
      to: `'${message.to}`,
      status: 'read',
      contactId: '',
      warnings: message.warnings.join(','),
      'safety.decision': message.safety.decision,
      'safety.score': String(message.safety.score),
      createdAt: message.createdAt,
    })
  })

  it('takes the filters of the list, and refuses what the list refuses', async () => {
    expect(await exported('messages/export.csv?status=cancelled')).toEqual([])
    const refused = await tenant.api.get('messages/export.csv?createdFrom=yesterday')
    expectRefusal(refused, 400, 'VALIDATION_ERROR', /^createdFrom: /)
  })
})

describe.each(['contacts/export.csv', 'messages/export.csv'])('%s', (path) => {
  it('is a download that no cache keeps', async () => {
    const { headers } = await tenant.api.get(path)
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${path.split('/')[0]}.csv"`)
    expect(headers.get('cache-control')).toContain('no-store')
  })

  it('answers HEAD without a body', async () => {
    const response = await fetch(new URL(`/api/v1/${path}`, rig.gateway.url), {
      method: 'HEAD',
      headers: { 'x-api-key': tenant.account.apiKey },
    })
    expect([response.status, await response.text()]).toEqual([200, ''])
  })

  it('needs a key, and shows nothing of another workspace', async () => {
    expectRefusal(await tenant.api.get(path, { 'x-api-key': '' }), 401, 'UNAUTHORIZED')
    expect(await exported(path, rig.stranger)).toEqual([])
  })
})
