// Reading messages: one by id, the list with its filters, the history with a number; and cancelling.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import type { Answer } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, messageRecord, newNumber, newTenant, nobody, openRig, type Rig, type Tenant, text } from './rig.ts'

let rig: Rig
/** Its instance is not connected, so its messages stay queued. */
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  const { account, api } = rig.tenant
  const instance = await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' })
  asleep = { account, api, instance }
})

async function send(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<{ id: string; to: string }> {
  const answer = await tenant.api.post('messages/send', text(tenant, fields))
  expect(answer.status).toBe(201)
  return answer.body.data
}

function ids(answer: Answer): string[] {
  return answer.body.data.messages.map((message: { id: string }) => message.id)
}

describe('one message', () => {
  it('is read by its id', async () => {
    const sent = await send(asleep)
    const answer = await asleep.api.get(`messages/${sent.id}`)
    const body = { data: messageRecord(asleep, { ...sent, body: 'Hello' }) }
    expect({ status: answer.status, body: answer.body }).toStrictEqual({ status: 200, body })
  })

  it('is not found by another account, with the same answer as a missing one', async () => {
    const sent = await send(asleep)
    const foreign = await rig.stranger.api.get(`messages/${sent.id}`)
    expectRefusal(foreign, 404, 'NOT_FOUND', 'Message not found')
    expect(foreign.body).toEqual((await rig.stranger.api.get(`messages/${nobody}`)).body)
    expectRefusal(await rig.stranger.api.post(`messages/${sent.id}/cancel`), 404, 'NOT_FOUND', 'Message not found')
  })

  it.each(['5', 'a'.repeat(300), `{${nobody}}`, nobody.replaceAll('-', ''), '%00'])('needs a UUID, not %s', async (id) => {
    expectRefusal(await rig.tenant.api.get(`messages/${id}`), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
  })
})

describe('cancelling', () => {
  it('cancels a queued message, once', async () => {
    const sent = await send(asleep)
    const answer = await asleep.api.post(`messages/${sent.id}/cancel`)
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 200,
      body: { data: messageRecord(asleep, { id: sent.id, to: sent.to, body: 'Hello', status: 'cancelled' }) },
    })
    const again = await asleep.api.post(`messages/${sent.id}/cancel`)
    expectRefusal(again, 409, 'INVALID_STATE', 'The message is cancelled; only a queued message can be cancelled')
  })

  it('is refused for a message that was already sent', async () => {
    const sent = await send(rig.tenant)
    await until(async () => (await rig.tenant.api.get(`messages/${sent.id}`)).body.data.status === 'read')
    expectRefusal(await rig.tenant.api.post(`messages/${sent.id}/cancel`), 409, 'INVALID_STATE')
  })

  it('is refused for a missing or malformed id', async () => {
    expectRefusal(await rig.tenant.api.post(`messages/${nobody}/cancel`), 404, 'NOT_FOUND', 'Message not found')
    expectRefusal(await rig.tenant.api.post('messages/5/cancel'), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
  })
})

describe('the list', () => {
  it('returns complete records, newest first', async () => {
    const { gateway, databaseUrl } = rig
    const tenant = await newTenant(gateway, databaseUrl)
    expect((await tenant.api.get('messages')).body).toStrictEqual({ data: { messages: [], nextCursor: null, hasMore: false } })
    const sent = [await send(tenant), await send(tenant)]
    const { data } = (await tenant.api.get('messages')).body
    expect(data).toStrictEqual({
      messages: sent.reverse().map(({ id }) =>
        messageRecord(tenant, {
          id,
          body: 'Hello',
          status: expect.any(String),
          providerMessageId: data.messages.find((row: { id: string }) => row.id === id).providerMessageId,
        }),
      ),
      nextCursor: null,
      hasMore: false,
    })
  })

  it('applies its filters and sort orders', async () => {
    const { gateway, databaseUrl } = rig
    const tenant = await newTenant(gateway, databaseUrl)
    const other = { ...tenant, instance: await connectedInstance(databaseUrl, tenant.account, { status: 'disconnected' }) }
    const echo = await send(tenant, { to: '+4915112340006' })
    await until(async () => (await tenant.api.get('messages?direction=inbound')).body.data.messages.length === 1)
    const queued = await send(other)
    const image = await send(other, { type: 'image', mediaUrl: 'https://files.example.com/a.png' })
    const all = (await tenant.api.get('messages')).body.data.messages
    const inbound = all.find((message: { direction: string }) => message.direction === 'inbound')
    expect(inbound).toStrictEqual(
      messageRecord(tenant, {
        direction: 'inbound',
        status: 'received',
        from: echo.to,
        to: tenant.instance.waNumber,
        body: 'echo: Hello',
        providerMessageId: expect.any(String),
        warnings: [],
      }),
    )
    const at = (id: string) => all.find((message: { id: string }) => message.id === id).createdAt
    const expected: [query: string, found: string[]][] = [
      ['status=queued', [image.id, queued.id]],
      ['status=received', [inbound.id]],
      ['direction=inbound', [inbound.id]],
      ['direction=outbound', [image.id, queued.id, echo.id]],
      ['type=image', [image.id]],
      ['type=unknown', []],
      [`instanceId=${other.instance.id}`, [image.id, queued.id]],
      [`contactId=${nobody}`, []],
      [`campaignId=${nobody}`, []],
      [`to=${encodeURIComponent(queued.to)}`, [queued.id]],
      [`to=${queued.to}`, [queued.id]],
      [`createdFrom=${at(image.id)}`, [image.id]],
      [`createdFrom=${at(image.id).replace('Z', '+00:00')}`, [image.id]],
      [`createdTo=${at(queued.id)}`, [inbound.id, echo.id]],
      [`status=queued&type=text&instanceId=${other.instance.id}`, [queued.id]],
      ['sort=createdAt:asc', [echo.id, inbound.id, queued.id, image.id]],
      ['sort=createdAt:desc', [image.id, queued.id, inbound.id, echo.id]],
      ['nonsense=1', [image.id, queued.id, inbound.id, echo.id]],
    ]
    for (const [query, found] of expected) expect([query, ids(await tenant.api.get(`messages?${query}`))]).toEqual([query, found])
  })

  it.each([
    ['limit=0', 'limit: must be a whole number from 1 to 100'],
    ['limit=101', 'limit: must be a whole number from 1 to 100'],
    ['limit=-1', 'limit: must be a whole number from 1 to 100'],
    ['limit=1e9', 'limit: must be a whole number from 1 to 100'],
    ['limit=1.5', 'limit: must be a whole number from 1 to 100'],
    ['limit=abc', 'limit: must be a whole number from 1 to 100'],
    ['limit=1&limit=2', 'limit: must be given once'],
    ['sort=name:asc', 'sort: must be one of createdAt:desc, createdAt:asc'],
    ['status=gone', /^status: must be one of queued, /],
    ['status=queued&status=sent', 'status: must be given once'],
    ['direction=up', /^direction: must be one of outbound, inbound$/],
    ['type=hologram', /^type: must be one of text, /],
    ['instanceId=5', 'instanceId: must be a UUID'],
    ['contactId=5', 'contactId: must be a UUID'],
    ['campaignId=5', 'campaignId: must be a UUID'],
    ['to=5', /^to: must be an E\.164 number/],
    ['createdFrom=yesterday', /^createdFrom: must be an ISO 8601[^;]*$/],
    ['createdFrom=0000-12-31T23:59:59Z', 'createdFrom: must not be before the year 1'],
    ['createdFrom=0001-01-01T00:00:00%2B14:00', 'createdFrom: must not be before the year 1'],
    ['createdTo=2026-02-30T00:00:00Z', /^createdTo: must be an ISO 8601/],
    ['cursor=abc', 'cursor: is not a cursor'],
    [`cursor=${'x'.repeat(1100)}`, /^cursor: is not a cursor/],
    ['limit=0&to=5', /^limit: /],
  ])('refuses the query %s', async (query, message) => {
    expectRefusal(await rig.tenant.api.get(`messages?${query}`), 400, 'VALIDATION_ERROR', message)
  })
})

describe('the history with a number', () => {
  it('has both directions, newest first, by pages', async () => {
    const { gateway, databaseUrl } = rig
    const tenant = await newTenant(gateway, databaseUrl)
    const to = '+4915112350006'
    const sent = await send(tenant, { to })
    await send(tenant)
    const history = (query = '') => tenant.api.get(`messages/history?phone=${encodeURIComponent(to)}${query}`)
    await until(async () => ids(await history()).length === 2)
    const { data } = (await history()).body
    expect(Object.keys(data).sort()).toEqual(['hasMore', 'messages', 'nextCursor'])
    expect(data.messages.map((row: { direction: string }) => row.direction)).toEqual(['inbound', 'outbound'])
    const first = (await history('&limit=1')).body.data
    expect(first).toMatchObject({ hasMore: true, nextCursor: expect.any(String) })
    const second = (await history(`&limit=1&cursor=${first.nextCursor}`)).body.data
    expect(second).toMatchObject({ hasMore: false, nextCursor: null, messages: [{ id: sent.id }] })
    expect(ids(await tenant.api.get(`messages/history?phone=${to}`))).toHaveLength(2)
    expect(ids(await rig.stranger.api.get(`messages/history?phone=${encodeURIComponent(to)}`))).toEqual([])
  })

  it.each([
    ['', 'phone: is required'],
    ['phone=%2B4915112350006&phone=%2B4915112350006', 'phone: must be given once'],
    ['phone=5', /^phone: must be an E\.164 number/],
    [`phone=%2B4915112350006&limit=0`, /^limit: /],
    [`phone=%2B4915112350006&cursor=x`, 'cursor: is not a cursor'],
  ])('refuses the query "%s"', async (query, message) => {
    expectRefusal(await rig.tenant.api.get(`messages/history?${query}`), 400, 'VALIDATION_ERROR', message)
  })
})

it('lists no message of another account', async () => {
  const to = newNumber()
  await send(rig.stranger, { to })
  const ours = [rig.tenant, rig.stranger].map(({ account }) => account.workspaceId)
  const stored = 'select "workspaceId" from messages where "to" = $1 and "workspaceId" = any($2)'
  const { rows } = await sql(rig.databaseUrl).query(stored, [to, ours])
  expect(rows).toEqual([{ workspaceId: rig.stranger.account.workspaceId }])
  const query = `to=${encodeURIComponent(to)}&instanceId=${rig.stranger.instance.id}`
  expect(ids(await rig.tenant.api.get(`messages?${query}`))).toEqual([])
})
