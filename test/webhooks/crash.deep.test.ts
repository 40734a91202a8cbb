// Further crashes during attempts: of the process without a restart, and of the database. crash.process.test.ts holds the others.
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { leaseMs } from '../../src/webhooks/policy.ts'
import { ownServer } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { delivered, sendOne } from './crash-rig.ts'
import { openReceiver, status } from './receiver.ts'
import { openRig, settled } from './rig.ts'

it('another process takes over from a killed one without a restart', async () => {
  const receiver = await openReceiver()
  const { databaseUrl, account, gateway, webhook } = await sendOne(
    { FAILPOINT: 'hook.after_2xx_before_commit=sleep:60000' },
    receiver.url,
  )
  await until(() => receiver.requests.length === 1)
  const second = await openGateway({ databaseUrl })
  gateway.kill('SIGKILL')
  expect(await delivered(second, account.apiKey, webhook.id)).toMatchObject({ attempts: 2 })
})

it.each([
  ['', 0],
  [', and stays away for longer than a lease,', leaseMs + 1_000],
])('a database that crashes while a receiver answers%s costs no second attempt', { timeout: 120_000 }, async (_, awayMs) => {
  const server = await ownServer()
  const rig = await openRig({ databaseUrl: server.url })
  let answer = () => {}
  const receiver = await openReceiver((_, response) => {
    answer = () => response.end()
  })
  const endpoint = await rig.endpoint(receiver.url)
  await rig.emit()
  await until(() => receiver.requests.length === 1)
  await server.stop('immediate')
  answer()
  await pause(awayMs)
  await server.start()
  expect((await settled(rig, endpoint.id, 'delivered'))[0]).toMatchObject({ attempts: 1 })
  expect(receiver.requests).toHaveLength(1)
  receiver.answer = status(200)
  await rig.emit()
  await settled(rig, endpoint.id, 'delivered', 2)
})
