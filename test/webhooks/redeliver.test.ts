// Deliveries made by hand: one more attempt of an earlier delivery, and test deliveries.
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { eventDefinitions } from '../../src/event-types.ts'
import { redeliver, testEndpoint } from '../../src/webhooks/redeliver.ts'
import { updateEndpoint } from '../../src/webhooks/service.ts'
import { until } from '../kit/until.ts'
import { hang, openReceiver, status } from './receiver.ts'
import { newRig, openRig, settled } from './rig.ts'

/** The first interval between two attempts is a millisecond, or a minute. */
let fast: App
let slow: App

beforeAll(async () => {
  fast = (await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '0.001' } })).app
  slow = (await openRig({ env: { WEBHOOK_RETRY_BASE_SECONDS: '60' } })).app
})

describe('a redelivery', () => {
  it('of a failed delivery makes one attempt under the same id', async () => {
    const rig = await newRig(fast)
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    const [id] = await rig.emit()
    const [failed] = await settled(rig, endpoint.id, 'failed')
    expect(await redeliver(rig.ctx, failed?.id as string)).toMatchObject({ status: 'pending' })
    expect((await settled(rig, endpoint.id, 'failed'))[0]).toMatchObject({ attempts: 6, attemptsLeft: 0 })
    receiver.answer = status(200)
    await redeliver(rig.ctx, failed?.id as string, endpoint.id)
    expect((await settled(rig, endpoint.id, 'delivered'))[0]).toMatchObject({ attempts: 7, error: null })
    expect(new Set(receiver.requests.map((request) => request.headers['webhook-id']))).toEqual(new Set([id]))
    expect(receiver.requests).toHaveLength(7)
  })

  it('of a delivery that waits for its next attempt is made now, and the automatic attempts go on', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    const [waiting] = await settled(rig, endpoint.id, 'retrying')
    await redeliver(rig.ctx, waiting?.id as string)
    await until(async () => (await rig.deliveries(endpoint.id))[0]?.attempts === 2)
    expect((await settled(rig, endpoint.id, 'retrying'))[0]).toMatchObject({ attemptsLeft: 4, nextAttemptAt: expect.any(Date) })
  })

  it('of a delivered event is possible', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver()
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    const [done] = await settled(rig, endpoint.id, 'delivered')
    await redeliver(rig.ctx, done?.id as string)
    await until(() => receiver.requests.length === 2)
    expect((await settled(rig, endpoint.id, 'delivered'))[0]).toMatchObject({ attempts: 2 })
  })

  it('is refused during an attempt, for a disabled endpoint, for another account, and after 30 days', async () => {
    const rig = await newRig(slow)
    const stranger = await newRig(slow)
    const receiver = await openReceiver(hang)
    const endpoint = await rig.endpoint(receiver.url)
    const other = await rig.endpoint(receiver.url)
    await rig.app.pool.query(`update webhook_endpoints set events = '{message.read}' where id = $1`, [other.id])
    await rig.emit()
    await until(() => receiver.requests.length === 1)
    const id = (await rig.deliveries(endpoint.id))[0]?.id as string
    const codeOf = (work: Promise<unknown>) =>
      work.then(
        () => 'done',
        (error: { extensions: { code: string } }) => error.extensions.code,
      )
    expect(await codeOf(redeliver(rig.ctx, id))).toBe('INVALID_STATE')
    expect(await codeOf(redeliver(stranger.ctx, id))).toBe('NOT_FOUND')
    expect(await codeOf(redeliver(rig.ctx, id, other.id))).toBe('NOT_FOUND')
    await updateEndpoint(rig.ctx, endpoint.id, { enabled: false })
    expect(await codeOf(redeliver(rig.ctx, id))).toBe('INVALID_STATE')
    expect(await codeOf(testEndpoint(rig.ctx, endpoint.id))).toBe('INVALID_STATE')
    await rig.app.pool.query(`update webhook_deliveries set "createdAt" = now() - interval '30 days 1 minute' where id = $1`, [
      id,
    ])
    expect(await codeOf(redeliver(rig.ctx, id))).toBe('NOT_FOUND')
  })
})

describe('a test delivery', () => {
  it('is a real signed delivery of the first type subscribed to, marked as a test', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver()
    const endpoint = await rig.endpoint(receiver.url, ['message.failed', 'message.sent'])
    const delivery = await testEndpoint(rig.ctx, endpoint.id)
    expect((await settled(rig, endpoint.id, 'delivered'))[0]).toMatchObject({ id: delivery.id, attempts: 1 })
    const [request] = receiver.requests
    const payload = new Webhook(endpoint.shownSecret).verify(request?.body ?? '', request?.headers ?? {})
    expect(payload).toMatchObject({ id: delivery.eventId, event: 'message.failed', test: true, status: 'failed', error: 'TEST' })
    expect(request?.headers['webhook-id']).toBe(delivery.eventId)
    expect((await rig.app.pool.query('select from events where "workspaceId" = $1', [rig.account.workspaceId])).rowCount).toBe(0)
  })

  it('is attempted once', async () => {
    const rig = await newRig(fast)
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    await testEndpoint(rig.ctx, endpoint.id)
    expect((await settled(rig, endpoint.id, 'failed'))[0]).toMatchObject({ attempts: 1, responseCode: 500 })
  })

  it.each(eventDefinitions)('has the fields of a real $type', async ({ type, payload }) => {
    const rig = await newRig(slow)
    const receiver = await openReceiver()
    const endpoint = await rig.endpoint(receiver.url, [type])
    await testEndpoint(rig.ctx, endpoint.id)
    await until(() => receiver.requests.length === 1)
    const fields = ['event', 'id', 'test', 'timestamp', ...Object.keys(payload.shape)]
    expect(Object.keys(JSON.parse(receiver.requests[0]?.body ?? '')).sort()).toEqual(fields.sort())
  })
})
