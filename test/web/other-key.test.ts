// An instance whose login was stored under another SECRET_KEY.
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { environmentOf, openClient, openLoopback, rowsOf } from './rig.ts'

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

it('pairs anew after a logout when that key is lost', async () => {
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const env = environmentOf(network)
  const first = await openGateway({ databaseUrl, env })
  const client = await openClient(databaseUrl, first)
  const id = await client.pair(network, '390000000075')
  await first.stop()

  const later = await openGateway({ databaseUrl, env: { ...env, SECRET_KEY: randomBytes(32).toString('hex') } })
  const calls = api(later, client.account.apiKey)
  await until(async () => (await calls.get(`instances/${id}/state`)).body.data.status === 'disconnected')
  expect((await calls.post(`instances/${id}/logout`)).status).toBe(200)
  expect((await calls.post(`instances/${id}/connect`)).status).toBe(200)
  await until(async () => (await calls.get(`instances/${id}/state`)).body.data.qr !== null)
})

it('is removed from its account after a logout, also if the server was without that key in between', async () => {
  const account = '390000000074'
  const databaseUrl = await cloneDatabase()
  const network = await openLoopback('393331234567')
  const env = environmentOf(network)
  const first = await openGateway({ databaseUrl, env })
  const client = await openClient(databaseUrl, first)
  const id = await client.pair(network, account)
  network.onLogin = () => ({ tag: 'failure', attrs: { reason: '503' } })
  expect((await client.api.post(`instances/${id}/logout`)).status).toBe(200)
  await first.stop()

  const newKey = { ...env, SECRET_KEY: randomBytes(32).toString('hex') }
  const without = await openGateway({ databaseUrl, env: newKey })
  const line = await without.line(/cannot be removed from its account/)
  await without.stop()
  expect(line.input).toContain(id)

  network.onLogin = undefined
  await openGateway({ databaseUrl, env: { ...newKey, SECRET_KEY_PREVIOUS: secretKey } })
  await until(() => network.accounts.get(account)?.removed)
  await until(async () => (await rowsOf(databaseUrl, 'select from web_sessions where removal is not null')).length === 0)
})
