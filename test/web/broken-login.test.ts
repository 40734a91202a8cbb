// A connection that cannot even be begun, here because its stored login is broken.
import { expect, it } from 'vitest'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, hasten, openClient, openLoopback } from './rig.ts'

it('is begun again after a pause, and not without end', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: 3_600_000 })
  const client = await openClient(databaseUrl, gateway)
  const id = await client.create()
  await sql(databaseUrl).query('insert into web_creds ("instanceId", data) values ($1, $2)', [
    id,
    gateway.app.sealer.seal('no JSON'),
  ])
  expect((await client.api.post(`instances/${id}/connect`, {})).status).toBe(200)
  const failures = () => gateway.logs.filter((line) => line.includes(id) && line.includes('a connection of WhatsApp Web failed'))
  await until(() => failures().length > 0)
  // For this the process looks for connections to begin many times.
  await client.pair(network, '390000000171')
  expect(failures()).toHaveLength(1)
})
