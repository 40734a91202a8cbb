// POST /messages/bulk beyond the rules for single messages: order, quota, size limits, and malicious items.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance } from '../kit/accounts.ts'
import { sql } from '../kit/database.ts'
import { badBodies, goodBodies } from './message-bodies.ts'
import { expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant, text } from './rig.ts'

const mib = 1024 * 1024
let rig: Rig
/** Its instance is not connected, so its messages stay queued. */
let asleep: Tenant

beforeAll(async () => {
  rig = await openRig()
  asleep = await sleeper()
})

async function sleeper(plan: 'free' | 'max' = 'max'): Promise<Tenant> {
  const { account, api } = await newTenant(rig.gateway, rig.databaseUrl, plan)
  return { account, api, instance: await connectedInstance(rig.databaseUrl, account, { status: 'disconnected' }) }
}

interface Judged {
  accepted: { index: number; id: string }[]
  rejected: { index: number; code: string; message: string }[]
}

async function bulk(messages: unknown[], tenant = asleep): Promise<Judged> {
  const { status, body } = await tenant.api.post('messages/bulk', { messages })
  expect([status, Object.keys(body.data)]).toEqual([202, ['accepted', 'rejected']])
  return body.data
}

async function stored(tenant: Tenant): Promise<{ id: string; body: string }[]> {
  const { rows } = await sql(rig.databaseUrl).query<{ id: string; body: string }>(
    'select id, body from messages where "workspaceId" = $1 order by "createdAt", id',
    [tenant.account.workspaceId],
  )
  return rows
}

describe('a bulk', () => {
  it('validates each item as a single send would, whatever its type', async () => {
    const base = { instanceId: asleep.instance.id, to: newNumber() }
    const good = goodBodies.map(([, fields]) => ({ ...base, ...fields }))
    // An item with scheduledAt is a message to schedule, so such a body is valid in a bulk.
    const wrong = badBodies.filter(([, fields]) => fields.scheduledAt === undefined)
    const bad = wrong.map(([, fields]) => ({ ...base, ...fields }))
    // Invalid and valid items alternate, so an effect of one item on its neighbour would show.
    const messages = bad.flatMap((body, i) => [body, good[i % good.length]])
    const { accepted, rejected } = await bulk(messages)
    expect(accepted.map(({ index }) => index)).toEqual(messages.flatMap((_, i) => (i % 2 ? [i] : [])))
    expect(rejected.map(({ index }) => index)).toEqual(messages.flatMap((_, i) => (i % 2 ? [] : [i])))
    for (const [i, [name, , message]] of wrong.entries()) {
      const outcome = message instanceof RegExp ? expect.stringMatching(message) : message
      expect(rejected[i], name).toEqual({ index: 2 * i, code: 'VALIDATION_ERROR', message: outcome })
    }
  })

  it('names an item that is no object "message" in the error, over REST and GraphQL', async () => {
    const messages = ['x', null, 1, [], {}]
    const { rejected } = await bulk(messages)
    expect(rejected.slice(0, 4).map(({ message }) => message)).toEqual([
      'message: must be an object',
      'message: must not be null',
      'message: must be an object',
      'message: must be an object',
    ])
    const document = 'mutation ($input: SendMessagesInput!) { sendMessages(input: $input) { rejected { index code message } } }'
    const { body } = await asleep.api.graphql(document, { input: { messages } })
    expect(body.data.sendMessages.rejected).toEqual(rejected)
  })

  it('stores its items in their order', async () => {
    const tenant = await sleeper()
    const { accepted } = await bulk(
      Array.from({ length: 250 }, (_, i) => text(tenant, { text: `number ${i}` })),
      tenant,
    )
    const rows = await stored(tenant)
    expect(rows.map(({ body }) => body)).toEqual(Array.from({ length: 250 }, (_, i) => `number ${i}`))
    expect(accepted).toEqual(rows.map(({ id }, index) => ({ index, id })))
  })

  it('accepts items in order until the quota is used up, and refuses the rest, scheduled ones included', async () => {
    const free = await sleeper('free')
    await sql(rig.databaseUrl).query(
      `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, 497)`,
      [free.account.userId],
    )
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const messages = [{ to: '5' }, ...Array.from({ length: 6 }, () => text(free)), text(free, { scheduledAt })]
    const { accepted, rejected } = await bulk(messages, free)
    expect(accepted.map(({ index }) => index)).toEqual([1, 2, 3])
    expect(rejected.map(({ index, code }) => [index, code])).toEqual([
      [0, 'VALIDATION_ERROR'],
      ...[4, 5, 6, 7].map((index) => [index, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED']),
    ])
    expect((await free.api.get('usage')).body.data.messagesCount).toBe(500)
  })

  it('refuses no item for the quota that later items use', async () => {
    const free = await sleeper('free')
    await sql(rig.databaseUrl).query(
      `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, 499)`,
      [free.account.userId],
    )
    const scheduled = text(free, { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    const { accepted } = await bulk([scheduled, text(free), scheduled, text(free)], free)
    expect(accepted.map(({ index }) => index)).toEqual([0, 1])
  })

  it('may hold the same message many times and stores each', async () => {
    const tenant = await sleeper()
    const { accepted } = await bulk(Array(5).fill(text(tenant)), tenant)
    expect(new Set(accepted.map(({ id }) => id)).size).toBe(5)
    expect(await stored(tenant)).toHaveLength(5)
  })

  it('of 1,000 invalid items answers 202 with nothing accepted', async () => {
    const { accepted, rejected } = await bulk(Array(1_000).fill({ to: '5' }))
    expect([accepted, rejected.length]).toEqual([[], 1_000])
    expect(rejected.map(({ index }) => index)).toEqual(Array.from({ length: 1_000 }, (_, i) => i))
  })

  it('ignores an idempotencyKey inside an item', async () => {
    const tenant = await sleeper()
    const same = text(tenant, { idempotencyKey: 'one' })
    expect((await bulk([same, same], tenant)).accepted).toHaveLength(2)
    expect(await stored(tenant)).toHaveLength(2)
  })

  it('accepts 16 MiB and not one byte more, with or without Content-Length', async () => {
    const [start, end] = ['{"messages":["', '"]}']
    const most = start + 'x'.repeat(16 * mib - start.length - end.length) + end
    expect((await asleep.api.post('messages/bulk', most)).body.data).toMatchObject({ accepted: [], rejected: [{ index: 0 }] })
    expectRefusal(await asleep.api.post('messages/bulk', `${most} `), 413, 'PAYLOAD_TOO_LARGE')
    const headers = { 'x-api-key': asleep.account.apiKey, 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: new Blob([`${most} `]).stream(), duplex: 'half' }
    expect((await fetch(`${rig.gateway.url}/api/v1/messages/bulk`, init as RequestInit)).status).toBe(413)
    expect((await asleep.api.post('messages/send', most)).status, 'it is the only route of messages with so much').toBe(413)
  })

  it.each<[string, string]>([
    ['a list in a list', '[[]]'],
    ['numbers', '[1, 1e400, -0]'],
    ['the prototype', '[{"__proto__": {"to": "+393331234567"}}, {"constructor": {"prototype": {"to": "x"}}}]'],
    ['a list for a text', '[{"text": ["a"], "to": ["+393331234567"], "instanceId": {}}]'],
    ['a deep one', `[${'{"variables":'.repeat(2_000)}{}${'}'.repeat(2_000)}]`],
  ])('refuses malicious items without a server error: %s', async (_, members) => {
    const { status, body } = await asleep.api.post('messages/bulk', `{"messages": ${members}}`)
    expect(status).toBeLessThan(500)
    if (status === 202) expect(body.data.accepted).toEqual([])
    else expect(body.error.code).toBe('VALIDATION_ERROR')
    expect(({} as { to?: string }).to).toBeUndefined()
  })

  it('needs an active subscription', async () => {
    const tenant = await sleeper()
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
    expectRefusal(await tenant.api.post('messages/bulk', { messages: [text(tenant)] }), 403, 'SUBSCRIPTION_INACTIVE')
    expectRefusal(await tenant.api.post('messages/bulk', { messages: [] }), 403, 'SUBSCRIPTION_INACTIVE')
  })
})
