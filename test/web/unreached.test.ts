// A network that cannot be reached: the terminal says so, and that the gateway tries again.
import { expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { environmentOf, openClient, openLoopback } from './rig.ts'

it('the terminal that pairs an instance says that the network cannot be reached and that the gateway tries again', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback()
  const env = environmentOf(network)
  const client = await openClient(databaseUrl, await openGateway({ databaseUrl, env }))
  const id = await client.create()
  await network.close()
  const { code, stderr } = await command(['instance', 'pair', '--id', id], { databaseUrl, env })
  expect([code, stderr]).toEqual([
    1,
    expect.stringContaining('Shop is disconnected: WhatsApp cannot be reached (ECONNREFUSED); the gateway tries again'),
  ])
})
