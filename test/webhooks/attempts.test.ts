// Proves that a delivery shows each of its attempts, an endpoint its health, and a message the deliveries that it caused.
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { pruneDeliveries } from '../../src/webhooks/prune.ts'
import { updateEndpoint } from '../../src/webhooks/service.ts'
import { ask } from './ask.ts'
import { inTurn, openReceiver, type Receiver, status } from './receiver.ts'
import { newRig, openRig, type Rig, settled } from './rig.ts'

const log = `query ($id: ID!) { webhookDelivery(id: $id) { attempts nextAttemptAt messageId webhook { id url }
  attemptLog { attempt at durationMs responseCode error reason answer headers } } }`

const health = `query ($id: ID!, $window: WebhookHealthWindow) { webhook(id: $id) { health(window: $window) {
  from attempts failed successRate p95Ms lastFailure { deliveryId at responseCode error reason } buckets { at attempts failed p95Ms } } } }`

let rig: Rig
let receiver: Receiver

beforeAll(async () => {
  rig = await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '0.001' } })
})

describe('the log of a delivery', () => {
  it('has every attempt with its time, duration, answer and the headers that were sent', async () => {
    const long = 'é'.repeat(2_000)
    receiver = await openReceiver(
      inTurn(status(503, {}, long), status(302, { location: 'https://elsewhere.example' }, 'a\0b'), status(200, {}, 'thanks')),
    )
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'delivered')
    const { data } = await ask(rig, log, { id: delivery?.id })
    const { attemptLog, ...rest } = data.webhookDelivery
    expect(rest).toMatchObject({ attempts: 3, nextAttemptAt: null, webhook: { id: endpoint.id, url: receiver.url } })
    expect(attemptLog).toMatchObject([
      { attempt: 1, responseCode: 503, error: 'unexpected_status', answer: 'é'.repeat(1_024) },
      { attempt: 2, responseCode: 302, error: 'redirect_refused', reason: expect.stringMatching(/redirect/), answer: 'a\ufffdb' },
      { attempt: 3, responseCode: 200, error: null, reason: null, answer: 'thanks' },
    ])
    for (const [i, { headers, at, durationMs }] of attemptLog.entries()) {
      const sent = receiver.requests[i]
      for (const [name, value] of Object.entries(headers)) expect(sent?.headers[name.toLowerCase()]).toBe(value)
      expect(Object.keys(headers)).toContain('webhook-signature')
      expect(durationMs).toBeGreaterThanOrEqual(0)
      expect(Math.abs((sent?.at ?? 0) - Date.parse(at))).toBeLessThan(10_000)
    }
  })

  it('names a fault without an answer in words', async () => {
    const endpoint = await rig.endpoint(receiver.url)
    await rig.app.pool.query(`update webhook_endpoints set url = 'http://127.0.0.1:1/' where id = $1`, [endpoint.id])
    await rig.emit()
    const [delivery] = await settled(rig, endpoint.id, 'failed')
    const { data } = await ask(rig, log, { id: delivery?.id })
    expect(data.webhookDelivery.attemptLog).toHaveLength(5)
    const fault = { responseCode: null, error: 'connect_failed', reason: 'No connection could be made.', answer: null }
    expect(data.webhookDelivery.attemptLog[0]).toMatchObject(fault)
    await updateEndpoint(rig.ctx, endpoint.id, { enabled: false })
  })

  it('is not found by another account, nor after its endpoint was deleted', async () => {
    const stranger = await newRig(rig.app)
    const { rows } = await rig.app.pool.query('select id from webhook_deliveries limit 1')
    expect((await ask(stranger, log, { id: rows[0].id })).errors?.[0]?.extensions.code).toBe('NOT_FOUND')
    expect((await ask(rig, log, { id: newId() })).errors?.[0]?.extensions.code).toBe('NOT_FOUND')
  })

  it('expires with its delivery', async () => {
    const gone = newId()
    const [endpoint] = (await rig.app.pool.query('select id from webhook_endpoints limit 1')).rows
    await rig.app.pool.query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, status, "createdAt")
       values ($1, $2, $1, 'message.sent', 'failed', now() - interval '31 days')`,
      [gone, endpoint.id],
    )
    await rig.app.pool.query(
      `insert into webhook_attempts ("deliveryId", attempt, "endpointId", at, "durationMs") values ($1, 1, $2, now(), 1)`,
      [gone, endpoint.id],
    )
    await pruneDeliveries.prune(rig.app)
    expect((await rig.app.pool.query('select from webhook_attempts where "deliveryId" = $1', [gone])).rowCount).toBe(0)
  })
})

describe('the health of an endpoint', () => {
  it('counts the attempts of the window by parts, with their durations and the last failure', async () => {
    const { id } = await rig.endpoint(receiver.url, ['message.read'])
    const deliveryId = newId()
    await rig.app.pool.query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, status) values ($1, $2, $1, 'message.read', 'failed')`,
      [deliveryId, id],
    )
    // 100 attempts of the last 100 minutes that took 1 to 100 ms; every tenth failed. One more was made yesterday.
    await rig.app.pool.query(
      `insert into webhook_attempts ("deliveryId", attempt, "endpointId", at, "durationMs", "responseCode", error)
       select $1::uuid, n, $2::uuid, now() - n * interval '1 minute', n, case when n % 10 = 0 then 500 else 200 end,
         case when n % 10 = 0 then 'unexpected_status' end
       from generate_series(1, 100) n union all select $1, 1000, $2, now() - interval '25 hours', 9000, null, 'timeout'`,
      [deliveryId, id],
    )
    const day = (await ask(rig, health, { id })).data.webhook.health
    expect(day).toMatchObject({ attempts: 100, failed: 10, successRate: 0.9, p95Ms: 95 })
    expect(day.lastFailure).toMatchObject({ deliveryId, responseCode: 500, error: 'unexpected_status' })
    expect(Date.now() - Date.parse(day.lastFailure.at)).toBeLessThan(11 * 60_000 + 20_000)
    const sum = (name: string) =>
      day.buckets.reduce((total: number, bucket: Record<string, number>) => total + (bucket[name] ?? 0), 0)
    expect([sum('attempts'), sum('failed')]).toEqual([100, 10])
    expect(day.buckets.length).toBeLessThanOrEqual(3)
    for (const { at } of day.buckets) expect(Date.parse(at) % 3_600_000).toBe(0)
    expect(Math.abs(Date.now() - 86_400_000 - Date.parse(day.from))).toBeLessThan(60_000)
    const week = (await ask(rig, health, { id, window: 'week' })).data.webhook.health
    expect(week).toMatchObject({ attempts: 101, failed: 11, lastFailure: { error: 'unexpected_status' } })
  })

  it('of an endpoint without attempts is empty', async () => {
    const { id } = await rig.endpoint(receiver.url, ['message.read'])
    expect((await ask(rig, health, { id, window: 'hour' })).data.webhook.health).toMatchObject({
      attempts: 0,
      failed: 0,
      successRate: null,
      p95Ms: null,
      lastFailure: null,
      buckets: [],
    })
  })
})

describe('the deliveries of a message', () => {
  it('are those that its events caused, over all endpoints, in pages', async () => {
    const own = await newRig(rig.app)
    const messageIds = [newId(), newId()]
    const instance = (await own.app.pool.query('select * from instances where "workspaceId" = $1', [own.account.workspaceId]))
      .rows[0]
    const endpointIds = [(await own.endpoint('https://a.example/')).id, (await own.endpoint('https://b.example/')).id]
    for (const [i, id] of messageIds.entries()) {
      await own.app.pool.query(
        `insert into messages (id, "workspaceId", "instanceId", "userId", "to", peer, type, body, direction, status, safety, "updatedAt")
         values ($1, $2, $3, $4, '+15550100', '+15550100', 'text', '', 'outbound', 'sent', '{}', now())`,
        [id, own.account.workspaceId, instance.id, own.account.userId],
      )
      for (const n of [1, 2]) {
        const seq = 1_000_000 + i * 10 + n
        await own.app.pool.query(
          `insert into events (seq, id, "workspaceId", type, "instanceId", "messageId", payload, "createdAt")
           values ($1, gen_random_uuid(), $2, 'message.sent', $3, $4, '{}', now())`,
          [seq, own.account.workspaceId, instance.id, id],
        )
        await own.app.pool.query(
          `insert into webhook_deliveries (id, "endpointId", "eventSeq", "eventId", type, "createdAt")
           select gen_random_uuid(), e, $1::bigint, gen_random_uuid(), 'message.sent', now() + $1::bigint * interval '1 second' from unnest($2::uuid[]) e`,
          [seq, endpointIds],
        )
      }
    }
    const query = `query ($id: ID!, $after: String) { message(id: $id) { deliveries(first: 3, after: $after) {
      nodes { messageId webhookId event status webhook { url } } pageInfo { hasNextPage endCursor } } } }`
    const first = (await ask(own, query, { id: messageIds[0] })).data.message.deliveries
    const { endCursor: after } = first.pageInfo
    const second = (await ask(own, query, { id: messageIds[0], after })).data.message.deliveries
    const nodes = [...first.nodes, ...second.nodes]
    expect(nodes).toHaveLength(4)
    expect(new Set(nodes.map(({ messageId }) => messageId))).toEqual(new Set([messageIds[0]]))
    expect(new Set(nodes.map(({ webhook }) => webhook.url))).toEqual(new Set(['https://a.example/', 'https://b.example/']))
    expect(second.pageInfo.hasNextPage).toBe(false)
    // Below a list of messages, one statement reads the deliveries of all of them.
    const all = await ask(own, '{ messages { nodes { id deliveries { nodes { messageId } } } } }')
    for (const { id, deliveries } of all.data.messages.nodes) {
      expect(deliveries.nodes.map(({ messageId }: { messageId: string }) => messageId)).toEqual([id, id, id, id])
    }
  })
})
