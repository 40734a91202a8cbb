// A process makes about as many attempts at once as it may, also when deliveries of many endpoints become due together.
import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { createDeliveryQueues } from '../../src/webhooks/delivery-queues.ts'
import { until } from '../kit/until.ts'
import { openReceiver } from './receiver.ts'
import { openRig, settled } from './rig.ts'

const most = 4

it('deliveries of many endpoints that are due together begin as far as the process has room', async () => {
  const rig = await openRig({ working: false })
  const responses: ServerResponse[] = []
  const receiver = await openReceiver((_, response) => void responses.push(response))
  const endpoints = await Promise.all(Array.from({ length: 4 * most }, (_, i) => rig.endpoint(`${receiver.url}/${i}`)))
  await rig.app.pool.query(
    `insert into webhook_deliveries (id, "endpointId", "eventId", type, "nextAttemptAt", payload)
     select gen_random_uuid(), id, gen_random_uuid(), 'message.sent', now(), '{}' from unnest($1::uuid[]) id`,
    [endpoints.map(({ id }) => id)],
  )
  const deliveries = (await Promise.all(endpoints.map(({ id }) => rig.deliveries(id)))).flat()
  const queues = createDeliveryQueues(rig.app, most)
  const taken = deliveries.map(({ id }, i) => queues.take([{ id, endpointId: endpoints[i]?.id as string }]))
  await Promise.all(taken.slice(0, most))
  expect((await rig.app.pool.query('select from webhook_deliveries where "leaseUntil" is not null')).rowCount).toBe(most)
  await until(() => responses.length === most)
  // The others follow as the first ones end.
  receiver.answer = (_, response) => response.end()
  for (const response of responses) response.end()
  await Promise.all(taken)
  await until(() => receiver.requests.length === deliveries.length)
  await Promise.all(endpoints.map(({ id }) => settled(rig, id, 'delivered')))
})
