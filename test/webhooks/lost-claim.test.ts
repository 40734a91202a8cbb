// The answer to a claim of deliveries is lost: the attempts that it has counted are made, and none is lost or counted twice.
import { expect, it } from 'vitest'
import { redeliver } from '../../src/webhooks/redeliver.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openPassage } from '../kit/passage.ts'
import { until } from '../kit/until.ts'
import { openReceiver, status } from './receiver.ts'
import { openRig, settled } from './rig.ts'

/** A rig whose way to the database can lose an answer. */
async function openStage(env: Record<string, string>) {
  const own = new URL(await cloneDatabase())
  const passage = await openPassage(Number(own.port))
  own.host = `127.0.0.1:${passage.port}`
  return { passage, rig: await openRig({ databaseUrl: own.href, env }), receiver: await openReceiver() }
}

it('an attempt whose claim was not answered is made, and counts once', async () => {
  const { passage, rig, receiver } = await openStage({})
  const endpoint = await rig.endpoint(receiver.url)
  passage.loseAnswer('webhooks.claim.one')
  await rig.emit()
  expect((await settled(rig, endpoint.id, 'delivered'))[0]).toMatchObject({ attempts: 1 })
  expect(receiver.requests).toHaveLength(1)
})

it('attempts of deliveries that waited, whose claim was not answered, are made and count once', async () => {
  const { passage, rig, receiver } = await openStage({})
  const endpoint = await rig.endpoint(receiver.url)
  passage.loseAnswer('webhooks.claim.waiting')
  await rig.emit(20)
  const deliveries = await settled(rig, endpoint.id, 'delivered', 20)
  expect(deliveries.map(({ attempts }) => attempts)).toEqual(deliveries.map(() => 1))
  expect(receiver.requests).toHaveLength(20)
})

it('a redelivery of a delivery without attempts left is made', async () => {
  const { passage, rig, receiver } = await openStage({ WEBHOOK_RETRY_BASE_SECONDS: '0.001' })
  receiver.answer = status(500)
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit()
  const [failed] = await settled(rig, endpoint.id, 'failed')
  receiver.answer = status(200)
  passage.loseAnswer('webhooks.claim.one')
  await redeliver(rig.ctx, failed?.id as string)
  await until(async () => (await rig.deliveries(endpoint.id))[0]?.nextAttemptAt === null)
  expect((await rig.deliveries(endpoint.id))[0]).toMatchObject({ status: 'delivered', attempts: 6 })
})
