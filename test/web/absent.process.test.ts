// Without its optional package, the gateway has every network but `web`, and says so.
import { expect, it } from 'vitest'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { until } from '../kit/until.ts'

/** Hides a package from `require` and `import`, as if it were not installed. */
const without = `data:text/javascript,${encodeURIComponent(`
  import Module from 'node:module'
  const find = Module._resolveFilename
  const gone = (name) => Object.assign(new Error("Cannot find package '" + name + "'"), { code: 'MODULE_NOT_FOUND' })
  Module._resolveFilename = function (name, ...rest) {
    if (/^(baileys|libsignal)(\\/|$)/.test(name)) throw gone(name)
    return find.call(this, name, ...rest)
  }
  Module.registerHooks({
    resolve(name, context, next) {
      if (/^(baileys|libsignal)(\\/|$)/.test(name)) throw gone(name)
      return next(name, context)
    },
  })
`)}`

it('refuses an instance of web in words, leaves those that exist alone, and sends on other networks', async () => {
  const databaseUrl = await cloneDatabase()
  const { apiKey, workspaceId, userId } = await createAccount(databaseUrl)
  const gateway = await startGateway({ databaseUrl, env: { NODE_OPTIONS: `--import=${without}` } })
  const client = api(gateway, apiKey)
  const refused = await client.post('instances', { name: 'Shop', provider: 'web' })
  expect([refused.status, refused.body.error]).toEqual([
    400,
    { code: 'VALIDATION_ERROR', message: 'provider: web is not installed on this server' },
  ])
  const { rows } = await sql(databaseUrl).query(
    `insert into instances (id, "workspaceId", "userId", name, provider, status, settings)
     values (gen_random_uuid(), $1, $2, 'Old', 'web', 'disconnected', '{}') returning id`,
    [workspaceId, userId],
  )
  const old = rows[0].id as string
  expect((await client.post(`instances/${old}/connect`, {})).body.error).toEqual({
    code: 'PROVIDER_ERROR',
    message: 'The provider web is not installed on this server',
  })
  expect((await client.get(`instances/${old}`)).body.data).toMatchObject({ id: old, status: 'disconnected' })

  const { id } = (await client.post('instances', { name: 'Sandbox', provider: 'sandbox' })).body.data
  await client.post(`instances/${id}/connect`, {})
  await until(async () => (await client.get(`instances/${id}/state`)).body.data.status === 'connected')
  const sent = await client.post('messages/send', { instanceId: id, to: '+393331234567', type: 'text', text: 'Hi' })
  await until(async () => ['delivered', 'read'].includes((await client.get(`messages/${sent.body.data.id}`)).body.data.status))
  expect((await client.delete(`instances/${old}`)).status).toBe(200)
})
