// An instance whose login was stored under another SECRET_KEY.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback } from './rig.ts'

it('is disconnected and says why, once, and connects by itself when the server has that key too', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const env = environmentOf(network)
  const first = await openGateway({ databaseUrl, env })
  const client = await openClient(databaseUrl, first)
  const id = await client.pair(network, '390000000073')
  await first.stop()
  const stateOf = async (calls: Api) => (await calls.get(`instances/${id}/state`)).body.data

  const newKey = { ...env, SECRET_KEY: randomBytes(32).toString('hex') }
  const without = await openGateway({ databaseUrl, env: newKey })
  const asked = api(without, client.account.apiKey)
  const state = await until(async () => {
    const found = await stateOf(asked)
    return found.status === 'disconnected' && found
  })
  expect(state.lastError).toBe('the stored login cannot be decrypted with SECRET_KEY')
  await without.stop()
  expect(without.logs.filter((line) => line.includes(id) && line.includes('cannot be opened'))).toHaveLength(1)

  const both = await openGateway({ databaseUrl, env: { ...newKey, SECRET_KEY_PREVIOUS: secretKey } })
  await until(() => network.connected.includes('390000000073'))
  await until(async () => (await stateOf(api(both, client.account.apiKey))).status === 'connected')
})
