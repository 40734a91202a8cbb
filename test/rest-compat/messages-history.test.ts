// GET /messages/history: all messages with one number in both directions, also while new ones arrive.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig
let tenant: Tenant
/** The sandbox answers every message to this number. */
const to = '+4915112360006'

interface Row {
  id: string
  direction: string
  from: string | null
  to: string
  createdAt: string
  status: string
}
interface Page {
  messages: Row[]
  nextCursor: string | null
  hasMore: boolean
}

beforeAll(async () => {
  rig = await openRig()
  tenant = await newTenant(rig.gateway, rig.databaseUrl)
  for (let i = 1; i <= 12; i++) {
    await tenant.api.post('messages/send', text(tenant, { to, text: `number ${i}` }))
    await until(async () => (await history()).messages.length === 2 * i)
  }
})

async function history(query = '', phone = to): Promise<Page> {
  const answer = await tenant.api.get(`messages/history?limit=100&phone=${encodeURIComponent(phone)}${query}`)
  expect(answer.status).toBe(200)
  return answer.body.data
}

/** Reads all pages of `limit` messages; `after` runs after each page. */
async function walk(limit: number, after: () => Promise<unknown> = async () => {}): Promise<Row[]> {
  const rows: Row[] = []
  let cursor: string | null = null
  do {
    const from = cursor ? `&cursor=${cursor}` : ''
    const { body } = await tenant.api.get(`messages/history?phone=${encodeURIComponent(to)}&limit=${limit}${from}`)
    const page: Page = body.data
    expect(page.hasMore).toBe(page.nextCursor !== null)
    expect(page.messages.length).toBeLessThanOrEqual(limit)
    rows.push(...page.messages)
    cursor = page.nextCursor
    await after()
  } while (cursor)
  return rows
}

describe('a history', () => {
  it('has both directions, newest first', async () => {
    const { messages, hasMore } = await history()
    expect([messages.length, hasMore]).toEqual([24, false])
    const times = messages.map(({ createdAt }) => createdAt)
    expect(times).toEqual([...times].sort().reverse())
    const wanted = Array.from({ length: 24 }, (_, i) => (i % 2 === 0 ? 'inbound' : 'outbound'))
    expect(messages.map(({ direction }) => direction)).toEqual(wanted)
    for (const { direction, ...row } of messages) {
      const [theirs, ours] = direction === 'inbound' ? [row.from, row.to] : [row.to, row.from]
      expect([theirs, ours]).toEqual([to, tenant.instance.waNumber])
    }
  })

  it('has 20 messages a page by default', async () => {
    const { data } = (await tenant.api.get(`messages/history?phone=${encodeURIComponent(to)}`)).body
    expect([data.messages.length, data.hasMore]).toEqual([20, true])
  })

  it.each([1, 5, 23, 24, 25])('is the same when read by pages of %i, with each message once', async (limit) => {
    expect(await walk(limit)).toEqual((await history()).messages)
  })

  it('neither repeats nor skips messages when new ones arrive during paging', async () => {
    const before = (await history()).messages.map(({ id }) => id)
    const during = await walk(3, () => tenant.api.post('messages/send', text(tenant, { to })))
    expect(during.map(({ id }) => id)).toEqual(before)
    await until(async () => (await history()).messages.length >= before.length + 16)
    const after = (await history()).messages.map(({ id }) => id)
    expect(after.slice(-before.length)).toEqual(before)
  })

  it('pages through messages of the same moment without loss or repetition', async () => {
    const [phone, at] = [newNumber(), '2026-01-31T10:00:00.000Z']
    const messages = Array.from({ length: 9 }, () => text(tenant, { to: phone }))
    const { accepted } = (await tenant.api.post('messages/bulk', { messages })).body.data
    // Locks the rows in id order, as the receipts that arrive at this moment do; another order could deadlock.
    const { rowCount } = await sql(rig.databaseUrl).query(
      `with held as (select id from messages where "to" = $1 and "workspaceId" = $3 order by id for update)
       update messages m set "createdAt" = $2 from held where m.id = held.id`,
      [phone, at, tenant.account.workspaceId],
    )
    expect(rowCount).toBe(9)
    const pages: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const from: string = cursor ? `&cursor=${cursor}` : ''
      const { body } = await tenant.api.get(`messages/history?phone=${encodeURIComponent(phone)}&limit=2${from}`)
      pages.push(...body.data.messages.map(({ id }: Row) => id))
      cursor = body.data.nextCursor
    }
    expect(pages).toEqual(accepted.map(({ id }: { id: string }) => id).reverse())
  })

  it('covers all instances of the workspace, and messages that were never sent', async () => {
    const phone = newNumber()
    const other = { ...tenant, instance: await connectedInstance(rig.databaseUrl, tenant.account, { status: 'disconnected' }) }
    const send = async (from: Tenant, path = 'send', fields = {}) =>
      (await tenant.api.post(`messages/${path}`, text(from, { to: phone, ...fields }))).body.data.id
    const ids = [
      await send(tenant),
      await send(other),
      await send(other, 'schedule', { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() }),
    ]
    await tenant.api.post(`messages/${ids[1]}/cancel`)
    const { messages } = await history('', phone)
    expect(messages.map(({ id }) => id)).toEqual(ids.reverse())
    expect(messages.slice(0, 2).map(({ status }) => status)).toEqual(['queued', 'cancelled'])
  })

  it('is the same over GraphQL', async () => {
    const { body } = await tenant.api.graphql(`{ history(phone: "${to}", first: 100) { nodes { id } totalCount } }`)
    const ids = (await history()).messages.map(({ id }) => ({ id }))
    expect(body.data.history).toEqual({ nodes: ids, totalCount: ids.length })
  })

  it('is empty for another account, for an unused number and for its own number', async () => {
    const empty = { messages: [], nextCursor: null, hasMore: false }
    expect((await rig.stranger.api.get(`messages/history?phone=${encodeURIComponent(to)}`)).body).toEqual({ data: empty })
    expect(await history('', newNumber())).toEqual(empty)
    expect(await history('', tenant.instance.waNumber), 'our own number is on one side of all').toEqual(empty)
  })
})

describe('a history is refused', () => {
  it.each([
    '393331234567',
    '00393331234567',
    '+39 333 1234567',
    '+39-333-1234567',
    '(333) 1234567',
    '333 1234567',
    '+1234567',
    '+1234567890123456',
    '+0393331234567',
    '++393331234567',
    '+٣٩٣٣٣١٢٣٤٥٦٧',
    '+393331234567\u0000',
    '+393331234567;ext=5',
    'tel:+393331234567',
    ' ',
  ])('for "%s", which is not an E.164 number', async (phone) => {
    const answer = await tenant.api.get(`messages/history?phone=${encodeURIComponent(phone)}`)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'phone: must be an E.164 number, for example +393331234567')
  })

  it.each(['', '?phone=', '?phone=&limit=1'])('without a number, for "%s"', async (query) => {
    expectRefusal(await tenant.api.get(`messages/history${query}`), 400, 'VALIDATION_ERROR', 'phone: is required')
  })

  it('with the cursor of another number or of the message list', async () => {
    const { data } = (await tenant.api.get(`messages/history?phone=${encodeURIComponent(to)}&limit=1`)).body
    const list = (await tenant.api.get('messages?limit=1')).body.data
    for (const [phone, cursor] of [
      [newNumber(), data.nextCursor],
      [to, list.nextCursor],
    ]) {
      const answer = await tenant.api.get(`messages/history?phone=${encodeURIComponent(phone)}&cursor=${cursor}`)
      expectRefusal(answer, 400, 'VALIDATION_ERROR', /^cursor: is not a cursor/)
    }
  })

  it('with a message that names every fault', async () => {
    expectRefusal(await tenant.api.get('messages/history?limit=0'), 400, 'VALIDATION_ERROR', /^limit: .*; phone: is required$/)
  })
})
