// The attempts that a process makes at once: about as many as it may, and endpoints that hang leave room for the others.
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import type { DeliveryRef } from '../../src/webhooks/deliver-job.ts'
import { createDeliveryQueues } from '../../src/webhooks/delivery-queues.ts'
import { until } from '../kit/until.ts'
import { openReceiver, type Receiver } from './receiver.ts'
import { openRig, type Rig, settled } from './rig.ts'

/** Creates an endpoint with so many deliveries that are due. */
async function due(rig: Rig, url: string, count: number): Promise<DeliveryRef[]> {
  const { id: endpointId } = await rig.endpoint(url)
  await rig.app.pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt", payload)
     select gen_random_uuid(), $1, gen_random_uuid(), 'message.sent', now(), '{}' from generate_series(1, $2)`,
    [endpointId, count],
  )
  return (await rig.deliveries(endpointId)).map(({ id }) => ({ id, endpointId }))
}

/** Lets the requests of a receiver hang until the returned function answers them. */
function holdBack(receiver: Receiver): () => void {
  const responses: ServerResponse[] = []
  receiver.answer = (_, response) => void responses.push(response)
  return () => {
    receiver.answer = (_, response) => response.end()
    for (const response of responses) response.end()
  }
}

it('deliveries of many endpoints that are due together begin as far as the process has room', async () => {
  const most = 4
  const rig = await openRig({ working: false })
  const receiver = await openReceiver()
  const release = holdBack(receiver)
  const deliveries = (await Promise.all(Array.from({ length: 4 * most }, () => due(rig, receiver.url, 1)))).flat()
  const queues = createDeliveryQueues(rig.app, most)
  const taken = deliveries.map((delivery) => queues.take([delivery]))
  await Promise.all(taken.slice(0, most))
  expect((await rig.app.pool.query('select from webhook_deliveries where "leaseUntil" is not null')).rowCount).toBe(most)
  await until(() => receiver.requests.length === most)
  // The others follow as the first ones end.
  release()
  await Promise.all(taken)
  for (const { endpointId } of deliveries) await settled(rig, endpointId, 'delivered')
  expect(receiver.requests).toHaveLength(deliveries.length)
})

it('endpoints that answered quickly and now hang leave room for another one', async () => {
  const fullWidth = 32
  const rig = await openRig({ working: false, env: { WEBHOOK_TIMEOUT_SECONDS: '600' } })
  const queues = createDeliveryQueues(rig.app, 2 * fullWidth)
  const receiver = await openReceiver()
  const releases: (() => void)[] = []
  const endpoints = await Promise.all([1, 2].map(() => due(rig, receiver.url, fullWidth + 3)))
  for (const [first, ...next] of endpoints) {
    // The first one hangs, so that the queue remembers the quick answers to the next three.
    releases.push(holdBack(receiver))
    const before = receiver.requests.length
    await queues.take([first as DeliveryRef])
    await until(() => receiver.requests.length > before)
    receiver.answer = (_, response) => response.end()
    for (const delivery of next.splice(0, 3)) {
      await queues.take([delivery])
      const text = `select from webhook_deliveries where id = $1 and status = 'delivered'`
      await until(async () => (await rig.app.pool.query(text, [delivery.id])).rowCount)
    }
  }
  releases.push(holdBack(receiver))
  for (const deliveries of endpoints) await queues.take(deliveries.slice(4))
  const live = await openReceiver()
  const waiting = queues.take(await due(rig, live.url, 1))
  await until(() => live.requests.length === 1)
  await waiting
  for (const release of releases) release()
  for (const [first] of endpoints) await settled(rig, first?.endpointId as string, 'delivered', fullWidth + 3)
})
