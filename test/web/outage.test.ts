// The database is away while a connection is being made or begins: what the network tells only once is stored when it is back.
import { beforeAll, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback, rowsOf } from './rig.ts'

let databaseUrl: string
let network: Loopback
let client: Client

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  network = await openLoopback('393331234567')
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
  client = await openClient(databaseUrl, gateway)
})

/** Lets no login happen until the returned function is called. */
function holdLogins(): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  network.loginsAfter = promise
  return resolve
}

it('that an instance has connected', async () => {
  const account = '390000000101'
  const id = await client.pair(network, account)
  const proceed = holdLogins()
  network.accounts.get(account)?.connection?.ws.terminate()
  await client.reached(id, 'disconnected')
  const away = await refuse(databaseUrl, 'update', 'instances')
  proceed()
  await away.happened()
  await away()
  await client.reached(id, 'connected')
})

it('the code that is to be entered on the phone', async () => {
  const phone = '+390000000102'
  const id = await client.create()
  const proceed = holdLogins()
  expect((await client.api.post(`instances/${id}/connect`, { phone })).status).toBe(200)
  const away = await refuse(databaseUrl, 'update', 'instances')
  proceed()
  await away.happened()
  await away()
  await network.enter(await until(async () => (await client.state(id)).pairingCode), phone.slice(1))
  await client.reached(id, 'connected')
})

it('the login of a device that the phone has linked', async () => {
  const id = await client.create()
  expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
  const qr = await until(async () => (await client.state(id)).qr)
  const away = await refuse(databaseUrl, 'insert', 'web_creds')
  network.scan(qr, '390000000103')
  // Each change of the login is stored by itself, and once more when the network asks the device to log in.
  await away.happened(5)
  await away()
  await client.reached(id, 'connected')
})

it('what the network answers about the standing of an account', async () => {
  network.standing = { xwa2_message_capping_info: { capping_status: 'CAPPED' } }
  const id = await client.pair(network, '390000000104')
  const away = await refuse(databaseUrl, 'update', 'instances')
  await away.happened()
  await away()
  await until(
    async () => (await rowsOf(databaseUrl, 'select "restrictedAt" from instances where id = $1', [id]))[0]?.restrictedAt,
  )
  network.standing = {}
})
