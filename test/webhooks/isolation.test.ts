// A slow or dead endpoint never delays the deliveries of another endpoint.
import { expect, it } from 'vitest'
import { workOn } from '../../src/core/jobs/work.ts'
import { createDeliveryQueues } from '../../src/webhooks/delivery-queues.ts'
import { fanOutImplementation } from '../../src/webhooks/fan-out.ts'
import { webhookSink } from '../../src/webhooks/sink.ts'
import { openRelay } from '../events/rig.ts'
import { slow } from '../kit/fault.ts'
import { promptly } from '../kit/promptly.ts'
import { until } from '../kit/until.ts'
import { type Answer, hang, openReceiver, type status } from './receiver.ts'
import { openRig, settled } from './rig.ts'

it('one hanging endpoint of ten does not delay the other nine', async () => {
  const rig = await openRig({ env: { WEBHOOK_TIMEOUT_SECONDS: '120' } })
  const dead = await openReceiver(hang)
  await rig.endpoint(dead.url)
  const live = await Promise.all(Array.from({ length: 9 }, () => openReceiver()))
  for (const receiver of live) await rig.endpoint(receiver.url)
  const events = 100
  /** Emits events one by one, waits for all deliveries to live receivers, and returns the 99th percentile of the delay in ms. */
  async function deliver(): Promise<number> {
    for (const receiver of live) receiver.requests.length = 0
    for (let i = 0; i < events; i++) await rig.emit()
    await until(() => live.every((receiver) => receiver.requests.length === events))
    const emitted = await rig.app.pool.query<{ id: string; createdAt: Date }>('select id, "createdAt" from events')
    const committed = new Map(emitted.rows.map((row) => [row.id, row.createdAt.getTime()]))
    const lateness = live
      .flatMap(({ requests }) => requests.map(({ at, headers }) => at - (committed.get(headers['webhook-id'] ?? '') ?? 0)))
      .sort((a, b) => a - b)
    return lateness[Math.floor(lateness.length * 0.99)] as number
  }
  const p99 = await promptly(deliver, { withinMs: 1_000, tookMs: (ms) => ms })
  console.log(`F20: p99 of the other nine is ${p99} ms`)
  // The dead endpoint occupies the four places of its own delivery queue and no more.
  expect(dead.requests.length).toBe(4)
})

it('thirty dead endpoints with a backlog do not delay a live one', async () => {
  const rig = await openRig({ env: { WEBHOOK_TIMEOUT_SECONDS: '120' } })
  const dead = await openReceiver(hang)
  for (let i = 0; i < 30; i++) await rig.endpoint(`${dead.url}/${i}`)
  await rig.emit(50)
  await until(() => dead.requests.length === 30 * 4)
  const live = await openReceiver()
  await rig.endpoint(live.url)
  await promptly(
    async () => {
      live.requests.length = 0
      await rig.emit(20)
      await until(() => live.requests.length === 20)
    },
    { withinMs: 1_000 },
  )
})

it('fifty endpoints of a busy workspace do not stop the event log', async () => {
  const rig = await openRig({ working: false })
  const { databaseUrl } = rig.app.config
  for (let i = 0; i < 50; i++) await rig.endpoint(`http://127.0.0.1:9/${i}`)
  // As on a busy disk: the inserts in total take longer than the relay waits for one statement.
  await slow(databaseUrl as string, 'insert', 'webhook_deliveries', 1)
  await rig.emit(120)
  await openRelay(rig.app, webhookSink(rig.app))
  await using _ = await workOn(rig.app, [fanOutImplementation])
  const count = async () => (await rig.app.pool.query('select count(*)::int as n from webhook_deliveries')).rows[0].n
  await until(async () => (await count()) === 120 * 50, { everyMs: 250 })
  expect((await rig.app.metrics.relayFailures.get()).values[0]?.value).toBe(0)
})

it('a delivery queue works through its backlog, and delivers each event once', async () => {
  const rig = await openRig()
  const receiver = await openReceiver((_, response) => void setTimeout(() => response.end(), 5))
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit(500)
  await settled(rig, endpoint.id, 'delivered', 500)
  expect(receiver.requests).toHaveLength(500)
  expect(new Set(receiver.requests.map((request) => request.headers['webhook-id'])).size).toBe(500)
})

it('a delivery queue goes on by itself after the process had as many attempts as it may', async () => {
  const rig = await openRig({ working: false })
  const responses: Parameters<Answer>[1][] = []
  const receiver = await openReceiver((_, response) => void responses.push(response))
  const endpoint = await rig.endpoint(receiver.url)
  await rig.app.pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt", payload)
     select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', now(), '{}' from generate_series(1, 6)`,
    [endpoint.id],
  )
  // This test starts no job worker and no sweep, so only the queue itself can claim the last two deliveries.
  const queues = createDeliveryQueues(rig.app, 2)
  await queues.take((await rig.deliveries(endpoint.id)).map(({ id }) => ({ id, endpointId: endpoint.id })))
  await until(() => responses.length === 4)
  receiver.answer = (_, response) => response.end()
  for (const response of responses) response.end()
  await until(async () => (await rig.deliveries(endpoint.id)).every((row) => row.status === 'delivered'), { timeoutMs: 45_000 })
})

it('a failing endpoint gets fewer concurrent attempts, and the full number again when it recovers', async () => {
  const rig = await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '0.2' } })
  let open = 0
  let most = 0
  const slowly = (code: number) => (_: unknown, response: Parameters<ReturnType<typeof status>>[1]) => {
    most = Math.max(most, ++open)
    setTimeout(() => {
      open--
      response.writeHead(code).end()
    }, 20)
  }
  const receiver = await openReceiver(slowly(500))
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit()
  await until(async () => (await rig.deliveries(endpoint.id))[0]?.attempts === 2)
  most = 0
  await rig.emit(40)
  await until(() => receiver.requests.length >= 20)
  expect(most).toBeLessThanOrEqual(2)
  receiver.answer = slowly(200)
  // A delivery that failed three times is tried again after 20 s, plus or minus a fifth.
  await until(async () => (await rig.deliveries(endpoint.id)).every((row) => row.status === 'delivered'), { timeoutMs: 45_000 })
  expect(most).toBeGreaterThan(2)
})
