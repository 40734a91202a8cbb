// The version of WhatsApp Web that an instance reports.
import { expect, it } from 'vitest'
import { versionIn } from '../../src/providers/web/version.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, hasten, openClient, openLoopback } from './rig.ts'

it('is that of the operator if there is one, also when the network refuses it', async () => {
  const account = '390000000062'
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const gateway = await openGateway({ databaseUrl, env: { ...environmentOf(network), WEB_VERSION: '2,3000,1234567890' } })
  hasten(gateway, { reconnectMs: 50 })
  const client = await openClient(databaseUrl, gateway)
  const id = await client.pair(network, account)
  expect(network.versions.last).toBe(1_234_567_890)
  network.versions.newest = 2_000_000_000
  network.versions.oldest = network.versions.newest
  network.accounts.get(account)?.connection?.ws.terminate()
  await until(async () => (await client.state(id)).lastError?.includes('405'))
  await until(() => network.versions.refused === 4)
  expect(network.versions.last).toBe(1_234_567_890)
})

it('is read from the script of the network’s own client', () => {
  expect(versionIn('"client_revision":1043857760,')).toEqual([2, 3000, 1_043_857_760])
  expect(versionIn('\\"client_revision\\": 1043857760')).toEqual([2, 3000, 1_043_857_760])
  expect(versionIn('<html>')).toBeUndefined()
})
