// The removal of a former device, which the network puts off for up to a day, does not keep the present device from connecting again.
import type { BinaryNode } from 'baileys'
import { beforeAll, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback } from './rig.ts'

let databaseUrl: string
let network: Loopback
let client: Client

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback()
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
  client = await openClient(databaseUrl, gateway)
})

const failure = (attrs: Record<string, string>) => ({ tag: 'failure', attrs })

/** An instance whose device `present` is connected, while the network does not let the device `former` in to be removed. */
async function twoDevices(former: string, present: string): Promise<string> {
  const id = await client.pair(network, former)
  network.onLogin = (digits) => (digits === former ? failure({ reason: '503' }) : undefined)
  await client.api.post(`instances/${id}/logout`)
  await client.api.post(`instances/${id}/connect`, {})
  network.scan(await until(async () => (await client.state(id)).qr), present)
  await client.reached(id, 'connected')
  return id
}

/** Refuses each login of the device `former`, and answers the first one of `present`. Returns a function that counts those of `present`. */
function followLogins(former: string, present: string, first?: BinaryNode): () => number {
  let logins = 0
  network.onLogin = (digits) => {
    if (digits === former) return failure({ reason: '503' })
    return digits === present && logins++ === 0 ? first : undefined
  }
  return () => logins
}

it('a connection that ends by a failure of the database is opened again while a former device is being removed', async () => {
  const [former, present] = ['390000000141', '390000000142'] as const
  const id = await twoDevices(former, present)
  const logins = followLogins(former, present)
  const away = await refuse(databaseUrl, 'update', 'instances')
  network.accounts.get(present)?.connection?.ws.terminate()
  await away.happened()
  await away()
  await until(() => logins() > 0 && network.connected.includes(present))
  await client.reached(id, 'connected')
})

it('a connection is opened again after a ban while a former device is being removed', async () => {
  const [former, present] = ['390000000143', '390000000144'] as const
  const id = await twoDevices(former, present)
  const logins = followLogins(former, present, failure({ reason: '402', code: '101', expire: '1' }))
  network.accounts.get(present)?.connection?.ws.terminate()
  await until(() => logins() > 1 && network.connected.includes(present))
  await client.reached(id, 'connected')
  expect(network.accounts.get(former)?.removed).toBe(false)
})
