// Proves that `find` finds records of the caller's workspace by what a person pastes or types, ten at most, and reads by indexes only.
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { inTurn, soughtIn } from '../../src/core/graph/find.ts'
import { newId } from '../../src/core/id.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { contextFor } from '../messages/rig.ts'
import { ask } from '../webhooks/ask.ts'
import { openRig, type Rig } from '../webhooks/rig.ts'

const query = `query ($text: String!) { find(text: $text) { __typename
  ... on Message { id to } ... on Contact { id name phone } ... on Instance { id name } ... on Campaign { id name }
  ... on Template { id name } ... on ContactGroup { id name } ... on WebhookEndpoint { id url } ... on WebhookDelivery { id }
} }`

interface Found {
  __typename: string
  id: string
  name?: string
}

let rig: Rig
const ids: Record<string, string> = {}
const number = '+4915112340001'

async function insert(table: string, fields: Record<string, unknown>): Promise<string> {
  const id = newId()
  const row: Record<string, unknown> = { id, workspaceId: rig.account.workspaceId, ...fields }
  const names = Object.keys(row)
  await rig.app.pool.query(
    `insert into ${table} (${names.map((name) => `"${name}"`).join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`,
    Object.values(row),
  )
  return id
}

beforeAll(async () => {
  rig = await openRig({ working: false })
  const { account, app } = rig
  const instance = (await app.pool.query('select id from instances where "workspaceId" = $1', [account.workspaceId])).rows[0]
  ids.Instance = instance.id
  ids.Contact = await insert('contacts', { name: 'Zoë Quartermain', phone: number })
  for (let i = 0; i < 20; i++) await insert('contacts', { name: `Orders ${i}`, phone: `+49151123499${10 + i}` })
  ids.ContactGroup = await insert('contact_groups', { name: 'Orders of spring' })
  await insert('contact_groups', { name: '50%_off\\' })
  ids.Template = await insert('templates', { name: 'Order shipped', type: 'text', body: 'x' })
  const message = {
    instanceId: instance.id,
    userId: account.userId,
    type: 'text',
    body: '',
    safety: {},
    to: number,
    peer: number,
  }
  ids.Message = await insert('messages', { ...message, providerMessageId: 'wamid.HBgN-1' })
  for (let i = 0; i < 8; i++) await insert('messages', message)
  ids.WebhookEndpoint = (await rig.endpoint('https://hooks.example/orders')).id
  const delivery = newId()
  await app.pool.query(`insert into webhook_deliveries (id, "endpointId", "eventId", type) values ($1, $2, $1, 'message.sent')`, [
    delivery,
    ids.WebhookEndpoint,
  ])
  ids.WebhookDelivery = delivery
})

async function find(text: string, by: Pick<Rig, 'ctx'> = rig): Promise<Found[]> {
  const { data, errors } = await ask(by, query, { text })
  expect(errors).toBeUndefined()
  return data.find
}

const types = (found: Found[]) => found.map(({ __typename }) => __typename)

describe('a search', () => {
  it('for an id finds the record of any type', async () => {
    for (const [type, id] of Object.entries(ids)) {
      expect((await find(` ${id.toUpperCase()} `)).map(({ __typename, id }) => [__typename, id])).toEqual([[type, id]])
    }
    expect(await find(newId())).toEqual([])
  })

  it.each([number, '0049 151 12340001', '49 (151) 1234-0001'])(
    'for the number %s finds its contact and latest messages',
    async (text) => {
      const found = await find(text)
      expect(found[0]).toMatchObject({ __typename: 'Contact', id: ids.Contact })
      expect(types(found).filter((type) => type === 'Message')).toHaveLength(5)
    },
  )

  it('for an id of the network finds its message', async () => {
    expect(await find('wamid.HBgN-1')).toMatchObject([{ __typename: 'Message', id: ids.Message }])
  })

  it('for a part of a name or a number finds at most ten records, of all types that match', async () => {
    const found = await find('ORDER')
    expect(found.length).toBeLessThanOrEqual(10)
    expect(new Set(types(found))).toEqual(new Set(['Contact', 'ContactGroup', 'Template', 'WebhookEndpoint']))
    expect(await find('uarterma')).toMatchObject([{ __typename: 'Contact', name: 'Zoë Quartermain' }])
    expect((await find('1512340')).map(({ id }) => id)).toEqual([])
    expect((await find('112340001')).map(({ id }) => id)).toEqual([ids.Contact])
  })

  it.each(['%', '0%_o', '_', '\\'])('for %s finds only names with these characters', async (text) => {
    expect(await find(text)).toMatchObject([{ __typename: 'ContactGroup', name: '50%_off\\' }])
  })

  it('finds nothing of another workspace', async () => {
    const other = await createAccount(rig.app.config.databaseUrl as string)
    await connectedInstance(rig.app.config.databaseUrl as string, other)
    const stranger = { ctx: contextFor(rig.app, other) }
    for (const text of [...Object.values(ids), number, 'wamid.HBgN-1', 'order']) expect(await find(text, stranger)).toEqual([])
  })

  it.each(['', '   ', 'x'.repeat(256), 'a\0b'])('refuses the text %j', async (text) => {
    expect((await ask(rig, query, { text })).errors?.[0]).toMatchObject({
      message: expect.stringMatching(/^text: /),
      extensions: { code: 'VALIDATION_ERROR' },
    })
  })

  it('reads by indexes only', async () => {
    const spy = vi.spyOn(rig.app.pool, 'query')
    for (const text of [ids.Message as string, number, 'wamid.HBgN-1', 'order']) await find(text)
    const calls = spy.mock.calls as unknown as [string | { text: string; values?: unknown[] }, unknown[]?][]
    spy.mockRestore()
    expect(calls.length).toBeGreaterThan(20)
    const client = await rig.app.pool.connect()
    // The tables of a test are so small that PostgreSQL would read them whole.
    await client.query('set enable_seqscan = off')
    for (const [asked, values] of calls) {
      const statement = typeof asked === 'string' ? { text: asked, values } : { text: asked.text, values: asked.values }
      const { rows } = await client.query(`explain ${statement.text}`, statement.values)
      const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
      expect(plan, statement.text).not.toContain('Seq Scan')
    }
    client.release(true)
  })
})

it('a text is taken for an id, a number or a name', () => {
  expect(soughtIn('0198C0DE-0000-7000-8000-000000000000')).toEqual({
    id: '0198c0de-0000-7000-8000-000000000000',
    phone: null,
    name: null,
  })
  expect(soughtIn(' Ada ')).toEqual({ id: null, phone: null, name: 'Ada' })
  expect(soughtIn('+49 151.12340001')).toEqual({ id: null, phone: '+4915112340001', name: '+49 151.12340001' })
})

it('no type takes all places', () => {
  expect(inTurn([[1, 2, 3], [], [4], [5, 6]])).toEqual([1, 4, 5, 2, 6, 3])
})
