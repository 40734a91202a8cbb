// Pending attempts when their endpoint gets a new URL, is disabled, is deleted, or gets a new secret.
import { verify } from '@octokit/webhooks-methods'
import { Webhook } from 'standardwebhooks'
import { beforeAll, describe, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { createSealer } from '../../src/core/seal.ts'
import { pruneDeliveries } from '../../src/webhooks/prune.ts'
import { deleteEndpoint, rotateSecret, updateEndpoint } from '../../src/webhooks/service.ts'
import { slow as slowDown } from '../kit/fault.ts'
import { until } from '../kit/until.ts'
import { openReceiver, status } from './receiver.ts'
import { newRig, openRig, type Rig, settled } from './rig.ts'

/** Leaves enough time between two attempts to change something, even on a busy machine. */
const slowly = { WEBHOOK_RETRY_BASE_SECONDS: '60' }
let slow: App

beforeAll(async () => {
  slow = (await openRig({ env: slowly })).app
})

/** Makes the next attempts and their jobs due now. */
async function hurry({ app }: Rig): Promise<void> {
  await app.pool.query(`update webhook_deliveries set "nextAttemptAt" = now() where status = 'retrying'`)
  await app.pool.query(`update pgboss.job set start_after = now() where name = 'webhook.deliver' and state < 'active'`)
}

describe('pending attempts', () => {
  it('go on although the previous URL answers 410 to an attempt in progress', async () => {
    const rig = await openRig()
    let refuse = () => {}
    const before = await openReceiver((_, response) => {
      refuse = () => response.writeHead(410).end()
    })
    const after = await openReceiver()
    const endpoint = await rig.endpoint(before.url)
    await rig.emit()
    await until(() => before.requests.length === 1)
    await updateEndpoint(rig.ctx, endpoint.id, { url: after.url })
    refuse()
    await settled(rig, endpoint.id, 'delivered')
    const text = 'select "disabledReason", "failedEvents" from webhook_endpoints where id = $1'
    expect((await rig.app.pool.query(text, [endpoint.id])).rows).toEqual([{ disabledReason: null, failedEvents: 0 }])
    expect(after.requests).toHaveLength(1)
  })

  it('go to the new URL', async () => {
    const rig = await newRig(slow)
    const [before, after] = [await openReceiver(status(500)), await openReceiver()]
    const endpoint = await rig.endpoint(before.url)
    await rig.emit()
    await settled(rig, endpoint.id, 'retrying')
    await updateEndpoint(rig.ctx, endpoint.id, { url: after.url })
    await hurry(rig)
    await settled(rig, endpoint.id, 'delivered')
    expect([before.requests.length, after.requests.length]).toEqual([1, 1])
  })

  it.each([
    ['deleted', 'endpoint_deleted'],
    ['disabled', 'endpoint_disabled'],
  ] as const)('are given up when the endpoint is %s', async (how, error) => {
    const rig = await openRig({ env: slowly })
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit(3)
    await settled(rig, endpoint.id, 'retrying', 3)
    if (how === 'deleted') await deleteEndpoint(rig.ctx, endpoint.id)
    else await updateEndpoint(rig.ctx, endpoint.id, { enabled: false })
    const rows = await rig.deliveries(endpoint.id)
    expect(rows).toMatchObject(Array.from({ length: 3 }, () => ({ status: 'failed', error, nextAttemptAt: null })))
    receiver.answer = status(200)
    await rig.emit()
    await jobsDone(rig)
    expect(receiver.requests).toHaveLength(3)
  })

  it('are given up even when there are thousands', async () => {
    const rig = await newRig(slow)
    const endpoint = await rig.endpoint('http://127.0.0.1:9/')
    await rig.app.pool.query(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, status, "attemptsLeft", "nextAttemptAt")
       select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', 'retrying', 4, now() + interval '1 hour' from generate_series(1, 5500)`,
      [endpoint.id],
    )
    // One statement for all of them would take longer than the statement timeout.
    await slowDown(rig.app.config.databaseUrl as string, 'update', 'webhook_deliveries', 2)
    expect((await updateEndpoint(rig.ctx, endpoint.id, { enabled: false })).disabledReason).toBe('by_hand')
    const rows = await settled(rig, endpoint.id, 'failed', 5_500)
    expect(new Set(rows.map((row) => row.error))).toEqual(new Set(['endpoint_disabled']))
  })

  it('end with the running attempt when the endpoint is disabled during it', async () => {
    const rig = await newRig(slow)
    let answer = () => {}
    const receiver = await openReceiver((_, response) => {
      answer = () => response.writeHead(500).end()
    })
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    await until(() => receiver.requests.length === 1)
    await updateEndpoint(rig.ctx, endpoint.id, { enabled: false })
    expect((await rig.deliveries(endpoint.id))[0]?.status).toBe('pending')
    answer()
    expect((await settled(rig, endpoint.id, 'failed'))[0]).toMatchObject({ responseCode: 500, attempts: 1, attemptsLeft: 0 })
  })

  it('are signed with both secrets after a rotation, and with the new one alone a day later', async () => {
    const rig = await newRig(slow)
    const receiver = await openReceiver(status(500))
    const endpoint = await rig.endpoint(receiver.url)
    await rig.emit()
    await settled(rig, endpoint.id, 'retrying')
    const { shownSecret: renewed = '' } = await rotateSecret(rig.ctx, endpoint.id)
    receiver.answer = status(200)
    await hurry(rig)
    await settled(rig, endpoint.id, 'delivered')
    const second = receiver.requests[1]
    for (const secret of [endpoint.shownSecret, renewed]) new Webhook(secret).verify(second?.body ?? '', second?.headers ?? {})
    expect(await verify(renewed, second?.body ?? '', second?.headers['x-service-signature'] ?? '')).toBe(true)
    expect(await verify(endpoint.shownSecret, second?.body ?? '', second?.headers['x-service-signature-previous'] ?? '')).toBe(
      true,
    )

    // A second rotation within the day does not end the first secret.
    const { shownSecret: newest = '' } = await rotateSecret(rig.ctx, endpoint.id)
    await rig.emit()
    await until(() => receiver.requests.length === 3)
    const afterTwo = receiver.requests[2]
    for (const secret of [endpoint.shownSecret, renewed, newest])
      new Webhook(secret).verify(afterTwo?.body ?? '', afterTwo?.headers ?? {})
    expect(await verify(newest, afterTwo?.body ?? '', afterTwo?.headers['x-service-signature'] ?? '')).toBe(true)
    const last = afterTwo?.headers['x-service-signature-previous'] ?? ''
    expect(await verify(renewed, afterTwo?.body ?? '', last)).toBe(true)

    await rig.app.pool.query(`update webhook_endpoints set "previousSecretUntil" = now() where id = $1`, [endpoint.id])
    await rig.emit()
    await until(() => receiver.requests.length === 4)
    const third = receiver.requests[3]
    new Webhook(newest).verify(third?.body ?? '', third?.headers ?? {})
    expect(() => new Webhook(endpoint.shownSecret).verify(third?.body ?? '', third?.headers ?? {})).toThrow()
    expect(third?.headers).not.toHaveProperty('x-service-signature-previous')
    await pruneDeliveries.prune(rig.app)
    const { rows } = await rig.app.pool.query('select "previousSecret" from webhook_endpoints where id = $1', [endpoint.id])
    expect(rows[0].previousSecret).toBeNull()
  })
})

it('deliveries are kept for 30 days', async () => {
  const rig = await openRig()
  const receiver = await openReceiver()
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit(3)
  const rows = await settled(rig, endpoint.id, 'delivered', 3)
  await rig.app.pool.query(`update webhook_deliveries set "createdAt" = now() - interval '30 days 1 minute' where id = $1`, [
    rows[0]?.id,
  ])
  await rig.app.pool.query(`update webhook_deliveries set "createdAt" = now() - interval '29 days' where id = $1`, [rows[1]?.id])
  expect(await pruneDeliveries.prune(rig.app, 1)).toBe(1)
  expect((await rig.deliveries(endpoint.id)).map((row) => row.id).sort()).toEqual([rows[1]?.id, rows[2]?.id].sort())
})

it('the row of a deleted endpoint is removed with its last delivery', async () => {
  const rig = await openRig()
  const receiver = await openReceiver()
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit()
  await settled(rig, endpoint.id, 'delivered')
  await deleteEndpoint(rig.ctx, endpoint.id)
  const count = async () => (await rig.app.pool.query('select from webhook_endpoints where id = $1', [endpoint.id])).rowCount
  await rig.app.pool.query(`update webhook_endpoints set "deletedAt" = now() - interval '31 days'`)
  await pruneDeliveries.prune(rig.app)
  expect(await count()).toBe(1)
  await rig.app.pool.query(`update webhook_deliveries set "createdAt" = now() - interval '31 days'`)
  await pruneDeliveries.prune(rig.app)
  expect(await count()).toBe(0)
})

/** Waits until no work is left, including attempts that are scheduled for later. */
async function jobsDone(rig: Rig): Promise<void> {
  const { pool } = rig.app
  await until(async () => (await pool.query('select from outbox')).rowCount === 0)
  await until(async () => {
    await hurry(rig)
    return (await pool.query(`select from pgboss.job where name = 'webhook.deliver' and state <= 'active'`)).rowCount === 0
  })
}

it('a previous secret that cannot be opened does not keep the new one from signing', async () => {
  const rig = await newRig(slow)
  const receiver = await openReceiver()
  const endpoint = await rig.endpoint(receiver.url)
  await rig.app.pool.query(
    `update webhook_endpoints set "previousSecret" = $2, "previousSecretUntil" = now() + interval '1 day' where id = $1`,
    [endpoint.id, createSealer(Buffer.alloc(32)).seal('whsec_lost')],
  )
  await rig.emit()
  await settled(rig, endpoint.id, 'delivered')
  expect(receiver.requests[0]?.headers).not.toHaveProperty('x-service-signature-previous')
})
