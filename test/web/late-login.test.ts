// Reports on a connection are refused from the moment at which something else is wanted for its instance.
import { expect, it } from 'vitest'
import { timing } from '../../src/providers/web/timing.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, hasten, openClient, openLoopback } from './rig.ts'

it('a login that ends after its device was logged out connects nothing', async () => {
  const account = '390000000074'
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 10 })
  const client = await openClient(databaseUrl, gateway)
  const id = await client.pair(network, account)
  const { promise, resolve: logIn } = Promise.withResolvers<void>()
  network.loginsAfter = promise
  network.accounts.get(account)?.connection?.ws.terminate()
  await until(() => network.loggingIn === 1)
  const lapsesAt = performance.now() + timing(gateway.app).leaseMs
  const locker = await sql(databaseUrl).connect()
  try {
    // The process does not learn that something else is wanted.
    await locker.query('begin; lock table web_nodes in access exclusive mode')
    expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
    expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
    logIn()
    const isRefused = () => gateway.logs.some((line) => line.includes('the state of a connection was not stored'))
    // On a slow machine the lease ends first, and with it the connection.
    const isOver = () => isRefused() || performance.now() > lapsesAt
    await until(async () => isOver() || (await client.state(id)).status !== 'connecting')
    expect(await client.state(id)).toMatchObject({ status: 'connecting' })
    await locker.query('rollback')
  } finally {
    locker.release(true)
  }
  await client.reached(id, 'pairing')
})
