// The behaviour of the sandbox network by the last four digits of a number, as callers see it: the record and the events.
import { beforeAll, expect, it } from 'vitest'
import { exists } from '../../src/providers/sandbox/script.ts'
import { openSse, type SseReader } from '../events/sse.ts'
import { connectedInstance, type TestInstance } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { hold } from '../kit/fault.ts'
import { atRest, expectInvariants } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'

let scene: Scene
let client: Api
let stream: SseReader

beforeAll(async () => {
  scene = await openScene({ env: { SANDBOX_LATENCY_MS: '40' } })
  client = scene.client()
  const { account, gateways } = scene
  stream = await openSse(`${gateways[0]?.url}/api/v1/events/stream`, { headers: { 'x-api-key': account.apiKey } })
})

interface Told {
  event: string
  instanceId: string
  messageId?: string
  status: string
  error?: string
  body?: string
  from?: string
  to?: string
}

function outcome(): Told[] {
  return stream.events.map(({ data }) => JSON.parse(data ?? '') as Told)
}

/** Sends to a number with that ending, and waits for rest; returns the record and all events about it. */
async function sendTo(ending: string, phone?: TestInstance) {
  const instance = phone ?? (await connectedInstance(scene.databaseUrl, scene.account))
  const to = `+3933312${ending}`
  const sent = await client.post('messages/send', { instanceId: instance.id, to, type: 'text', text: 'good morning' })
  expect([sent.status, sent.body.data.status]).toEqual([201, 'queued'])
  const { id } = sent.body.data
  await atRest(scene.databaseUrl)
  const { rows } = await sql(scene.databaseUrl).query(
    'select attempts, offers from messages m left join sandbox_messages s on s.reference = m.id::text where m.id = $1',
    [id],
  )
  const { rows: logged } = await sql(scene.databaseUrl).query(
    `select count(*)::int as n from events where "instanceId" = $1 and type <> 'message.queued'`,
    [instance.id],
  )
  const events = await until(() => {
    const own = outcome().filter(({ instanceId }) => instanceId === instance.id)
    return own.length === logged[0].n && own
  })
  const record = (await client.get(`messages/${id}`)).body.data
  return {
    instance,
    record,
    events: events.map(({ event }) => event),
    news: events,
    ...(rows[0] as { attempts: number; offers: number | null }),
  }
}

const ways: [
  ending: string,
  what: string,
  outcome: { status: string; error?: string; attempts?: number; offers?: number | null; events: string[] },
][] = [
  ['5555', 'goes through', { status: 'read', events: ['message.sent', 'message.delivered', 'message.read'] }],
  ['0001', 'is not on the network', { status: 'failed', error: 'RECIPIENT_NOT_FOUND', offers: null, events: ['message.failed'] }],
  ['0002', 'is sent, then fails', { status: 'failed', error: 'UNDELIVERABLE', events: ['message.sent', 'message.failed'] }],
  [
    '0003',
    'is read without having been delivered',
    { status: 'read', events: ['message.sent', 'message.delivered', 'message.read'] },
  ],
  [
    '0004',
    'gets its receipts three times in reverse',
    { status: 'read', events: ['message.sent', 'message.delivered', 'message.read'] },
  ],
  ['0005', 'stays sent', { status: 'sent', events: ['message.sent'] }],
  [
    '0008',
    'is refused twice, then goes through',
    { status: 'read', attempts: 3, offers: 3, events: ['message.sent', 'message.delivered', 'message.read'] },
  ],
  ['0009', 'is accepted without an answer', { status: 'read', events: ['message.sent', 'message.delivered', 'message.read'] }],
]

it.each(ways)('a message to …%s %s', async (ending, _, { status, error = null, attempts = 1, offers = 1, events }) => {
  const { record, news, ...seen } = await sendTo(ending)
  expect({ status: record.status, error: record.error, ...seen }).toEqual({
    status,
    error,
    attempts,
    offers,
    events,
    instance: seen.instance,
  })
  expect(record.providerMessageId).toBe(offers === null ? null : `sandbox.${record.id}`)
  for (const event of news)
    expect(event).toMatchObject({ messageId: record.id, to: record.to, status: event.event.slice('message.'.length) })
  if (error) expect(news.at(-1)?.error).toBe(error)
})

it('a message to …0006 is delivered and answered with an inbound text', async () => {
  const { instance, record, events, news } = await sendTo('0006')
  expect([record.status, ...events]).toEqual(['delivered', 'message.sent', 'message.delivered', 'message.received'])
  const answer = news.at(-1) as Told
  expect(answer).toMatchObject({ from: record.to, to: instance.waNumber, status: 'received', body: 'echo: good morning' })
  const inbound = (await client.get(`messages/${answer.messageId}`)).body.data
  expect(inbound).toMatchObject({
    direction: 'inbound',
    status: 'received',
    type: 'text',
    from: record.to,
    to: instance.waNumber,
    body: 'echo: good morning',
  })
  const history = await client.get(`messages/history?phone=${encodeURIComponent(record.to)}`)
  expect(history.body.data.messages.map(({ id }: { id: string }) => id)).toEqual([inbound.id, record.id])
})

it('a message to …0007 fails and leaves the instance restricted, but connected', async () => {
  const { instance, record, events } = await sendTo('0007')
  expect([record.status, record.error, ...events]).toEqual(['failed', 'ACCOUNT_RESTRICTED', 'message.failed'])
  const health = (await client.get(`instances/${instance.id}/health`)).body.data
  expect([health.safetyState, health.warmupPolicy.state, health.warmupPolicy.hourlyOutboundCap]).toEqual([
    'restricted',
    'restricted',
    5,
  ])
  expect(health.recommendations[0]).toMatch(/restricted/i)
  const state = (await client.get(`instances/${instance.id}/state`)).body.data
  expect(state).toMatchObject({ status: 'connected', connected: true, lastError: 'ACCOUNT_RESTRICTED' })
  const next = (await sendTo('5555', instance)).record
  expect(next.safety).toMatchObject({ decision: 'warn', riskLevel: 'high', state: 'restricted' })
})

it('a message to …0010 drops the connection, and is sent when it is back', async () => {
  const { instance, record, events } = await sendTo('0010')
  expect(record.status).toBe('read')
  expect(events).toEqual(['instance.disconnected', 'instance.connected', 'message.sent', 'message.delivered', 'message.read'])
  const state = (await client.get(`instances/${instance.id}/state`)).body.data
  expect(state).toMatchObject({ status: 'connected', lastError: null, lastDisconnectedAt: expect.any(String) })
})

it('a message to …0010 is not accepted before the connection has dropped, however long that takes', async () => {
  const drop = await hold(scene.databaseUrl, 'delete', 'sandbox_steps')
  const sending = sendTo('0010')
  await drop.waits()
  // It is tried again and again.
  const tries = new Set<number>()
  await until(async () => {
    const { rows } = await sql(scene.databaseUrl).query<{ at: Date | null }>(
      `select "nextAttemptAt" as at from messages where "to" like '%0010' and status = 'sending' and "acceptedAt" is null`,
    )
    for (const { at } of rows) if (at) tries.add(at.getTime())
    return tries.size > 1
  })
  await drop.release()
  const { events } = await sending
  expect(events).toEqual(['instance.disconnected', 'instance.connected', 'message.sent', 'message.delivered', 'message.read'])
})

it('a number that ends in 0001 is not on the network', () => {
  expect(['+393331230001', '+393331230002', '+393331235555'].map(exists)).toEqual([false, true, true])
})

it('waits one latency period for each step', async () => {
  const { record } = await sendTo('5555')
  const { rows } = await sql(scene.databaseUrl).query(
    `select extract(epoch from m."sentAt" - s."acceptedAt") * 1000 as sent, extract(epoch from m."readAt" - s."acceptedAt") * 1000 as read
     from messages m join sandbox_messages s on s.reference = m.id::text where m.id = $1`,
    [record.id],
  )
  expect(Number(rows[0].sent)).toBeGreaterThanOrEqual(39)
  expect(Number(rows[0].read)).toBeGreaterThanOrEqual(119)
})

it('keeps every invariant through all of that', async () => {
  await expectInvariants(scene.databaseUrl)
})
