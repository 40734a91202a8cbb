// An event that was numbered late, because no relay ran: its deliveries are there as long as what they deliver.
import { expect, it } from 'vitest'
import { pruneEvents } from '../../src/events/log/prune.ts'
import { pruneDeliveries } from '../../src/webhooks/prune.ts'
import { redeliver } from '../../src/webhooks/redeliver.ts'
import { webhookSink } from '../../src/webhooks/sink.ts'
import { openRelay } from '../events/rig.ts'
import { until } from '../kit/until.ts'
import { openRig } from './rig.ts'

it('a redelivery is refused, and not accepted and lost, once the event has expired', async () => {
  const rig = await openRig({ working: false })
  const { pool } = rig.app
  const endpoint = await rig.endpoint('https://hooks.example/')
  await rig.emit()
  await pool.query(`update outbox set "createdAt" = now() - interval '3 days'`)
  await openRelay(rig.app, webhookSink(rig.app))
  const { id } = await until(async () => (await rig.deliveries(endpoint.id))[0])
  // 29 days and 12 hours later.
  for (const table of ['events', 'webhook_deliveries'])
    await pool.query(`update ${table} set "createdAt" = "createdAt" - interval '29 days 12 hours'`)
  expect(await pruneEvents.prune(rig.app)).toBe(1)
  await expect(redeliver(rig.ctx, id)).rejects.toThrow('Webhook delivery not found')
  expect(await pruneDeliveries.prune(rig.app)).toBe(1)
})
