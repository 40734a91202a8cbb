// A network that closes every connection of an instance at once is asked for another one more and more rarely.
import type { BinaryNode } from 'baileys'
import { beforeAll, expect, it } from 'vitest'
import { cloneDatabase } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import type { Loopback } from './loopback.ts'
import { type Client, environmentOf, hasten, openClient, openLoopback } from './rig.ts'

const firstMs = 500
let network: Loopback
let client: Client

beforeAll(async () => {
  const databaseUrl = await cloneDatabase()
  network = await openLoopback('393331234567')
  const gateway = await openGateway({ databaseUrl, env: environmentOf(network) })
  hasten(gateway, { reconnectMs: firstMs })
  client = await openClient(databaseUrl, gateway)
})

/** Closes the connection, and answers each login by `answer`, until the gateway has waited for as long as its third delay. */
async function backsOff(account: string, code: string, answer: () => BinaryNode | undefined): Promise<void> {
  const id = await client.pair(network, account)
  const loginsAt: number[] = []
  network.onLogin = () => {
    loginsAt.push(performance.now())
    return answer()
  }
  network.disconnect(account, code)
  // The third delay is 2 s, give or take a fifth.
  await until(() => loginsAt.some((at, n) => at - (loginsAt[n - 1] ?? at) >= 0.8 * 4 * firstMs))
  network.onLogin = undefined
  network.onRequest = undefined
  await client.reached(id, 'connected')
  expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
}

it('waits longer each time that a network asks for a new login in place of a login', async () => {
  await backsOff('390000000071', '515', () => ({ tag: 'stream:error', attrs: { code: '515' } }))
})

it('waits longer each time that a network closes the connection after the login', async () => {
  const account = '390000000072'
  await backsOff(account, '503', () => {
    // A device asks for it as soon as it is logged in.
    network.onRequest = ({ attrs }) => {
      if (attrs.xmlns === 'privacy') network.disconnect(account, '503')
      return undefined
    }
    return undefined
  })
})
