// Idempotency-Key: a repeated POST gets the first answer again and is not executed again.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openPair, type Pair } from './idempotency-rig.ts'
import { expectRefusal, newTenant, nobody, text } from './rig.ts'

let { rig, second, asleep } = {} as Pair

beforeAll(async () => {
  ;({ rig, second, asleep } = await openPair())
})

/** The response to a POST under a key, with its body as text. */
async function post(path: string, body: unknown, key: string, gateway: { url: string } = rig.gateway) {
  const headers = { 'x-api-key': rig.tenant.account.apiKey, 'content-type': 'application/json', 'idempotency-key': key }
  const response = await fetch(`${gateway.url}/api/v1/${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
  const { status } = response
  return { status, replayed: response.headers.get('idempotency-replayed'), text: await response.text() }
}

async function count(table: 'messages' | 'instances' | 'webhook_endpoints'): Promise<number> {
  const { rows } = await sql(rig.databaseUrl).query(`select count(*)::int as n from ${table}`)
  return rows[0]?.n as number
}

async function queuedMessage(): Promise<string> {
  return (await asleep.api.post('messages/send', text(asleep))).body.data.id
}

async function endpoint(): Promise<string> {
  return (await rig.tenant.api.post('webhooks', { url: 'http://127.0.0.1:9/', events: ['message.sent'] })).body.data.id
}

describe('a repeated request', () => {
  const later = () => new Date(Date.now() + 60_000).toISOString()
  it.each<[route: string, status: number, path: () => string | Promise<string>, body: () => unknown]>([
    ['messages/send', 201, () => 'messages/send', () => text(asleep)],
    ['messages/schedule', 201, () => 'messages/schedule', () => text(asleep, { scheduledAt: later() })],
    ['messages/bulk', 202, () => 'messages/bulk', () => ({ messages: [text(asleep), { to: '5' }, text(asleep)] })],
    ['messages/{id}/cancel', 200, async () => `messages/${await queuedMessage()}/cancel`, () => ({})],
    ['instances', 201, () => 'instances', () => ({ name: 'Phone' })],
    ['instances/{id}/connect', 200, () => `instances/${asleep.instance.id}/connect`, () => ({})],
    ['instances/{id}/logout', 200, () => `instances/${asleep.instance.id}/logout`, () => ({})],
    ['webhooks', 201, () => 'webhooks', () => ({ url: 'http://127.0.0.1:9/', events: ['message.sent'] })],
    ['webhooks/{id}/rotate-secret', 200, async () => `webhooks/${await endpoint()}/rotate-secret`, () => ({})],
    ['webhooks/{id}/test', 200, async () => `webhooks/${await endpoint()}/test`, () => ({})],
  ])('to %s gets the same bytes from any process and is executed once', async (_, status, makePath, makeBody) => {
    const [path, body, key] = [await makePath(), makeBody(), randomUUID()]
    const first = await post(path, body, key)
    expect(first).toEqual({ status, replayed: null, text: expect.any(String) })
    const counts = async () => [await count('messages'), await count('instances'), await count('webhook_endpoints')]
    const before = await counts()
    for (const gateway of [rig.gateway, second])
      expect(await post(path, body, key, gateway)).toEqual({ ...first, replayed: 'true' })
    expect(await counts()).toEqual(before)
  })

  it.each<[string, number, string, () => string | Promise<string>, () => unknown]>([
    ['VALIDATION_ERROR', 400, 'of a field', () => 'messages/send', () => ({ to: '5' })],
    ['VALIDATION_ERROR', 400, 'of the whole body', () => 'messages/send', () => []],
    ['VALIDATION_ERROR', 400, 'of the path', () => 'messages/5/cancel', () => ({})],
    ['NOT_FOUND', 404, 'of an instance', () => 'messages/send', () => text(asleep, { instanceId: nobody })],
    ['NOT_FOUND', 404, 'of a message', () => `messages/${nobody}/cancel`, () => ({})],
    ['INVALID_STATE', 409, 'of a message', async () => `messages/${await cancelled()}/cancel`, () => ({})],
  ])('gets the same refusal again: %s %i %s', async (code, status, _, makePath, makeBody) => {
    const [path, body, key] = [await makePath(), makeBody(), randomUUID()]
    const first = await post(path, body, key)
    expect(first).toEqual({ status, replayed: null, text: expect.stringContaining(code) })
    expect(await post(path, body, key, second)).toEqual({ ...first, replayed: 'true' })
    expect(JSON.parse((await post('messages/send', text(asleep), key)).text).error.code).toBe('IDEMPOTENCY_KEY_REUSED')
  })

  it('gets the first answer, whatever has changed since', async () => {
    const [hook, message] = [{ url: 'http://127.0.0.1:9/', events: ['message.sent'] }, text(rig.tenant)]
    const [first, sent] = [await post('webhooks', hook, 'hook'), await post('messages/send', message, 'sent')]
    await rig.tenant.api.put(`webhooks/${JSON.parse(first.text).data.id}`, { events: ['message.read'] })
    await until(async () => (await rig.tenant.api.get(`messages/${JSON.parse(sent.text).data.id}`)).body.data.status === 'read')
    expect(await post('webhooks', hook, 'hook')).toEqual({ ...first, replayed: 'true' })
    expect(await post('messages/send', message, 'sent')).toEqual({ ...sent, replayed: 'true' })
  })

  it('is executed when the quota had refused it before', async () => {
    const free = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    const fill = `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, 500)`
    await sql(rig.databaseUrl).query(fill, [free.account.userId])
    const [body, headers] = [text(free), { 'idempotency-key': randomUUID() }]
    expectRefusal(await free.api.post('messages/send', body, headers), 429, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
    await sql(rig.databaseUrl).query('update usage set "messagesCount" = 0 where "userId" = $1', [free.account.userId])
    const answer = await free.api.post('messages/send', body, headers)
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([201, null])
  })

  it('gets the committed result when the first answer failed after the commit', async () => {
    const env = { FAILPOINT: 'api.after_commit_before_reply=throw', RATE_LIMIT_PER_SECOND: '100000', ROLES: 'http' }
    const failing = await openGateway({ databaseUrl: rig.databaseUrl, env })
    const [body, key] = [text(asleep), randomUUID()]
    expect((await post('messages/send', body, key, failing)).status).toBe(500)
    expect(await post('messages/send', body, key)).toMatchObject({ status: 201, replayed: 'true' })
    const { rows } = await sql(rig.databaseUrl).query('select id from messages where "to" = $1', [body.to])
    expect(rows).toHaveLength(1)
  })

  it('is executed anew once its key is older than 72 hours', async () => {
    const [body, key] = [text(asleep), randomUUID()]
    const first = await post('messages/send', body, key)
    const age = (hours: number) =>
      sql(rig.databaseUrl).query('update idempotency_keys set "createdAt" = now() - make_interval(hours => $1) where key = $2', [
        hours,
        key,
      ])
    await age(71)
    expect(await post('messages/send', body, key)).toEqual({ ...first, replayed: 'true' })
    await age(73)
    const again = await post('messages/send', body, key)
    expect(again).toMatchObject({ status: 201, replayed: null })
    expect(again.text).not.toBe(first.text)
  })

  it('of an interrupted bulk resumes where it stopped', async () => {
    const [body, key] = [{ messages: [text(asleep), text(asleep)] }, randomUUID()]
    const first = await post('messages/bulk', body, key)
    await sql(rig.databaseUrl).query('update idempotency_keys set result = null where key = $1', [key])
    await sql(rig.databaseUrl).query('delete from idempotency_keys where key = $1', [`${key}\u001f1`])
    const before = await count('messages')
    const again = await post('messages/bulk', body, key)
    expect(JSON.parse(again.text).data.accepted[0]).toEqual(JSON.parse(first.text).data.accepted[0])
    expect(await count('messages')).toBe(before + 1)
    expect(await post('messages/bulk', body, key)).toEqual({ ...again, replayed: 'true' })
  })
})

async function cancelled(): Promise<string> {
  const id = await queuedMessage()
  await asleep.api.post(`messages/${id}/cancel`)
  return id
}

describe('a key', () => {
  it.each<[string, () => string, () => unknown]>([
    ['another body', () => 'messages/send', () => text(asleep)],
    ['another route', () => 'messages/schedule', () => ({})],
    ['a bulk', () => 'messages/bulk', () => ({ messages: [text(asleep)] })],
    ['the webhooks', () => 'webhooks', () => ({ url: 'http://127.0.0.1:9/', events: ['message.sent'] })],
  ])('is refused for a second, different request: %s', async (_, path, body) => {
    for (const first of ['messages/send', 'messages/bulk']) {
      const key = randomUUID()
      expect(
        (await post(first, first === 'messages/send' ? text(asleep) : { messages: [text(asleep)] }, key)).status,
      ).toBeLessThan(300)
      const before = await count('messages')
      const answer = await rig.tenant.api.post(path(), body(), { 'idempotency-key': key })
      expectRefusal(answer, 422, 'IDEMPOTENCY_KEY_REUSED')
      expect(await count('messages')).toBe(before)
    }
  })

  it('belongs to one workspace', async () => {
    const key = randomUUID()
    const headers = { 'idempotency-key': key }
    const answers = [
      await rig.tenant.api.post('messages/send', text(rig.tenant), headers),
      await rig.stranger.api.post('messages/send', text(rig.stranger), headers),
    ]
    expect(answers.map((answer) => answer.status)).toEqual([201, 201])
  })

  it('must have 1 to 255 printable ASCII characters', async () => {
    const send = (key: string) => rig.tenant.api.post('messages/send', text(asleep), { 'idempotency-key': key })
    for (const key of ['', 'x'.repeat(256), 'ä', 'a\tb']) {
      expectRefusal(await send(key), 400, 'VALIDATION_ERROR', 'Idempotency-Key: must be 1 to 255 printable ASCII characters')
    }
    for (const key of ['x'.repeat(255), '~ !', `${randomUUID()}#0`]) expect((await send(key)).status).toBe(201)
  })

  it('has no effect on a GET', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    for (let i = 0; i < 2; i++) {
      const { status, headers: answered } = await rig.tenant.api.get('messages?limit=0', headers)
      expect([status, answered.get('idempotency-replayed')]).toEqual([400, null])
    }
  })

  it.each(['messages/send', 'messages/bulk', 'instances'])('raced 30 times on two processes runs %s once', async (path) => {
    const key = randomUUID()
    const body =
      path === 'instances'
        ? { name: 'Raced' }
        : path === 'messages/bulk'
          ? { messages: [text(asleep), text(asleep)] }
          : text(asleep)
    const before = [await count('messages'), await count('instances')]
    const answers = await Promise.all(Array.from({ length: 30 }, (_, i) => post(path, body, key, i % 2 ? second : rig.gateway)))
    const done = answers.filter((answer) => answer.status < 300)
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1)
    expect(done.filter((answer) => answer.replayed === null).length).toBe(1)
    expect(answers.filter((answer) => answer.status >= 300 && answer.status !== 409)).toEqual([])
    const added = { 'messages/send': [1, 0], 'messages/bulk': [2, 0], instances: [0, 1] }[path] as number[]
    expect([await count('messages'), await count('instances')]).toEqual(before.map((n, i) => n + (added[i] as number)))
  })
})
