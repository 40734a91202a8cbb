// Webhook deliveries: one attempt on success, five on failure, always with the exact bytes of the payload.
import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { createSealer } from '../../src/core/seal.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { until } from '../kit/until.ts'
import { hang, inTurn, openReceiver, type Receiver, status } from './receiver.ts'
import { newRig, openRig, type Rig, settled } from './rig.ts'

/** Apps that all tests share which need no other interval: the first between two attempts is 0.05 s, or 60 s. */
let fast: App
let slow: App

beforeAll(async () => {
  fast = (await openRig()).app
  slow = (await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '60' } })).app
})

function gaps(receiver: Receiver): number[] {
  return receiver.requests.slice(1).map((request, i) => request.at - (receiver.requests[i]?.at ?? 0))
}

describe('an event', () => {
  it('is delivered once to each endpoint subscribed to its type, with the exact bytes of its payload', async () => {
    const rig = await newRig(fast)
    const [wanted, other] = [await openReceiver(), await openReceiver()]
    const endpoint = await rig.endpoint(wanted.url, ['message.sent', 'message.read'])
    await rig.endpoint(other.url, ['message.failed'])
    const [id] = await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'delivered')
    expect(delivery).toMatchObject({ eventId: id, attempts: 1, responseCode: 200, error: null, nextAttemptAt: null })
    const [request] = wanted.requests
    expect(wanted.requests).toHaveLength(1)
    expect(JSON.parse(request?.body ?? '')).toMatchObject({ id, event: 'message.sent', status: 'sent' })
    const { rows } = await rig.app.pool.query('select payload::text as payload from events where id = $1', [id])
    expect(request?.body).toBe(rows[0].payload)
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'x-service-event': 'message.sent',
      'x-service-delivery': id,
      'webhook-id': id,
    })
    expect(other.requests).toEqual([])
  })

  // Measured again when other load keeps this machine too busy.
  it('is delivered within 250 ms of its commit in the median', measuredAgain, async () => {
    const rig = await newRig(fast)
    const receiver = await openReceiver()
    await rig.endpoint(receiver.url)
    const took: number[] = []
    for (let i = 1; i <= 10; i++) {
      const began = Date.now()
      await rig.emit()
      await until(() => receiver.requests.length === i, { everyMs: 2 })
      took.push((receiver.requests.at(-1)?.at ?? Number.NaN) - began)
    }
    expect(took.sort((a, b) => a - b)[5]).toBeLessThan(allowed(250))
  })

  it('reaches only endpoints of its own workspace', async () => {
    const rig = await newRig(fast)
    const stranger = await newRig(fast)
    const receiver = await openReceiver()
    const other = await openReceiver()
    const endpoint = await rig.endpoint(receiver.url)
    await stranger.endpoint(other.url)
    await rig.emit(3)
    await settled(rig, endpoint.id, 'delivered', 3)
    expect(other.requests).toEqual([])
  })
})

describe('a failing receiver', () => {
  it('gets five attempts at the documented intervals under one id, and none after', measuredAgain, async () => {
    const baseMs = 5
    const rig = await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: String(baseMs / 1000) } })
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    const [id] = await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'failed')
    expect(delivery).toMatchObject({
      attempts: 5,
      attemptsLeft: 0,
      responseCode: 500,
      error: 'unexpected_status',
      nextAttemptAt: null,
    })
    expect(new Set(receiver.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set([id]))
    expect(new Set(receiver.requests.map((request) => request.body)).size).toBe(1)
    for (const [i, gap] of gaps(receiver).entries()) {
      const nominal = baseMs * 10 ** i
      expect(gap).toBeGreaterThanOrEqual(nominal * 0.8 - 2)
      expect(gap).toBeLessThanOrEqual(nominal * 1.2 + allowed(1_500))
    }
    await until(async () => (await openJobs(rig)) === 0)
    expect(receiver.requests).toHaveLength(5)
  })

  it('has the time of its next attempt in the delivery', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver(status(503))
    const endpoint = await rig.endpoint(receiver.url)
    const began = Date.now()
    await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'retrying')
    const nextAt = delivery?.nextAttemptAt?.getTime() ?? 0
    expect(nextAt - began).toBeGreaterThan(44_000)
    expect(nextAt - Date.now()).toBeLessThan(73_000)
    expect(delivery).toMatchObject({ attempts: 1, attemptsLeft: 4, responseCode: 503 })
  })

  it('gets the event at the next attempt when it recovers', async () => {
    const rig = await newRig(fast)
    const receiver = await openReceiver(inTurn(status(500), status(204)))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'delivered')
    expect(delivery).toMatchObject({ attempts: 2, responseCode: 204, error: null })
    const { rows } = await rig.app.pool.query('select "failingSince" from webhook_endpoints where id = $1', [endpoint.id])
    expect(rows[0].failingSince).toBeNull()
  })

  it('that is busy gets no attempt before its Retry-After, limited to twice the interval', measuredAgain, async () => {
    const rig = await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '0.3' } })
    const receiver = await openReceiver(inTurn(status(429, { 'retry-after': '60' }), status(200)))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    await settled(rig, endpoint.id, 'delivered')
    expect(gaps(receiver)[0]).toBeGreaterThanOrEqual(598)
    expect(gaps(receiver)[0]).toBeLessThan(allowed(3_000))
  })

  it.each([
    ['hangs', hang, { responseCode: null, error: 'timeout' }],
    ['redirects', status(302, { location: 'http://127.0.0.1:1/' }), { responseCode: 302, error: 'redirect_refused' }],
    ['breaks off', ((_, __, socket) => socket.destroy()) as typeof hang, { responseCode: null, error: 'connection_lost' }],
  ])('that %s costs one failed attempt with its reason', async (how, answer, expected) => {
    const impatient = { WEBHOOK_TIMEOUT_SECONDS: '0.3001', WEBHOOK_RETRY_BASE_SECONDS: '60' }
    const rig = how === 'hangs' ? await openRig({ env: impatient }) : await newRig(slow)
    const receiver = await openReceiver(answer)
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    expect((await settled(rig, endpoint.id, 'retrying'))[0]).toMatchObject({ attempts: 1, ...expected })
  })

  it('that resolved to a public address at creation and to a private one at delivery is never connected to', async () => {
    const canary = await openReceiver()
    let records = ['93.184.216.34']
    const rig = await openRig({
      egress: { allowed: [], resolve: async () => records },
      env: { WEBHOOK_RETRY_BASE_SECONDS: '60' },
    })
    const endpoint = await rig.endpoint(`https://rebinding.example:${canary.port}/`)
    records = ['127.0.0.1']
    await rig.emit()
    expect((await settled(rig, endpoint.id, 'retrying'))[0]).toMatchObject({ error: 'blocked_address', responseCode: null })
    expect(canary.connections).toBe(0)
  })
})

async function openJobs(rig: Rig): Promise<number> {
  const { rows } = await rig.app.pool.query(
    `select count(*)::int as open from pgboss.job where name = 'webhook.deliver' and state <= 'active'`,
  )
  return rows[0].open
}

describe('a receiver that answers 410', () => {
  it('is disabled, and its pending deliveries are given up', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    await settled(rig, endpoint.id, 'retrying')
    receiver.answer = status(410)
    await rig.emit()
    const rows = await settled(rig, endpoint.id, 'failed', 2)
    expect(rows.map((row) => row.error)).toEqual(['endpoint_disabled', 'unexpected_status'])
    const found = await rig.app.pool.query('select "disabledReason", "disabledAt" from webhook_endpoints where id = $1', [
      endpoint.id,
    ])
    expect(found.rows[0]).toMatchObject({ disabledReason: 'gone', disabledAt: expect.any(Date) })
    await rig.emit()
    await until(async () => (await rig.app.pool.query('select from outbox')).rowCount === 0)
    expect(await rig.deliveries(endpoint.id)).toHaveLength(2)
    expect(receiver.requests).toHaveLength(2)
  })
})

it('a secret sealed with another SECRET_KEY costs an attempt like any failure, and none once it is readable again', async () => {
  const rig = await newRig(fast)
  const receiver = await openReceiver()
  const endpoint = await rig.endpoint(receiver.url)
  const seal = (key: Buffer) => createSealer(key).seal(endpoint.shownSecret)
  const put = (sealed: Buffer) =>
    rig.app.pool.query('update webhook_endpoints set secret = $2 where id = $1', [endpoint.id, sealed])
  await put(seal(Buffer.alloc(32)))
  await rig.emit()
  await until(async () => (await rig.deliveries(endpoint.id))[0]?.error === 'secret_unreadable')
  expect(receiver.requests).toEqual([])
  await put(seal(rig.app.secrets.secretKey as Buffer))
  await settled(rig, endpoint.id, 'delivered')
})

it('an endpoint that only failed for five days and ten events is disabled', async () => {
  const rig = await newRig(slow)
  const receiver = await openReceiver(status(500))
  const endpoint = await rig.endpoint(receiver.url)
  await rig.app.pool.query(
    `update webhook_endpoints set "failingSince" = now() - interval '5 days', "failedEvents" = 8 where id = $1`,
    [endpoint.id],
  )
  const reason = async () =>
    (await rig.app.pool.query('select "disabledReason" as reason from webhook_endpoints where id = $1', [endpoint.id])).rows[0]
      .reason
  await rig.emit()
  await settled(rig, endpoint.id, 'retrying')
  expect(await reason()).toBeNull()
  await rig.emit()
  await settled(rig, endpoint.id, 'failed', 2)
  expect(await reason()).toBe('failing')
})

it('a 2xx clears the failures that were counted while its attempt was in progress', async () => {
  const rig = await newRig(slow)
  let accept = () => {}
  const receiver = await openReceiver((_, response) => {
    accept = () => response.writeHead(200).end()
  })
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit()
  await until(() => receiver.requests.length === 1)
  receiver.answer = status(500)
  await rig.emit()
  const isThere = async (wanted: string) => (await rig.deliveries(endpoint.id)).some((delivery) => delivery.status === wanted)
  await until(() => isThere('retrying'))
  accept()
  await until(() => isThere('delivered'))
  const text = 'select "failingSince", "failedEvents" from webhook_endpoints where id = $1'
  expect((await rig.app.pool.query(text, [endpoint.id])).rows).toEqual([{ failingSince: null, failedEvents: 0 }])
})
