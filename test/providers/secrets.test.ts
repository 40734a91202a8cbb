// The secret settings of an instance through its life: encrypted at rest, shown to its provider alone, erased at its end.
import { deserialize } from 'node:v8'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { opensStored } from '../../src/cli/stored-secrets.ts'
import type { JobImplementation } from '../../src/core/jobs/jobs.ts'
import { deleteInstance, logoutInstance } from '../../src/instances/service.ts'
import { dispatchImplementations } from '../../src/messages/dispatch/dispatch.ts'
import { sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { openRig, type Rig, secrets, withEcho } from './rig.ts'

const otherKey = '5c'.repeat(32)
let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

beforeEach(() => {
  rig.calls.length = 0
})

async function create(settings: unknown = secrets, headers: Record<string, string> = {}): Promise<string> {
  const { status, body } = await rig.api.post('instances', { name: 'Echo', provider: 'web', settings }, headers)
  expect({ status, outcome: JSON.stringify(body).match(/secret/) }).toEqual({ status: 201, outcome: null })
  return body.data.id
}

async function rowOf(id: string): Promise<{ settings: unknown; credentials: Buffer | null }> {
  const { rows } = await sql(rig.databaseUrl).query('select settings, credentials from instances where id = $1', [id])
  return rows[0]
}

async function sendThrough(instanceId: string): Promise<string> {
  const message = { instanceId, to: '+393331234567', type: 'text', text: 'hello' }
  return (await rig.api.post('messages/send', message)).body.data.id
}

async function dispatch(app: Rig['app'], id: string) {
  const [instant] = dispatchImplementations as [JobImplementation]
  expect(await instant.run(app, [{ id }])).toEqual([undefined])
  const { rows } = await sql(rig.databaseUrl).query('select status, attempts, "providerMessageId" from messages where id = $1', [
    id,
  ])
  return rows[0]
}

it('refuses settings that are missing, wrong or unknown, and names them', async () => {
  const settings = { token: '', signingKey: 5, colour: 'red' }
  const refused = await rig.api.post('instances', { name: 'Echo', provider: 'web', settings })
  expect([refused.status, refused.body.error]).toEqual([
    400,
    {
      code: 'VALIDATION_ERROR',
      message: 'settings.token: must not be empty; settings.signingKey: must be a string; settings.colour: is unknown',
    },
  ])
  const { body } = await rig.api.post('instances', { name: 'Echo', provider: 'web' })
  expect(body.error.message).toBe('settings.token: is required; settings.signingKey: is required')
})

it('stores secrets encrypted, and gives them to the provider with each call', async () => {
  const id = await create()
  const { settings, credentials } = await rowOf(id)
  expect(settings).toEqual({ label: 'echo' })
  expect(credentials?.toString('latin1')).not.toContain('secret')
  await rig.api.post(`instances/${id}/connect`)
  const messageId = await sendThrough(id)
  expect(await dispatch(rig.app, messageId)).toMatchObject({ attempts: 1, providerMessageId: `echo.${messageId}` })
  await rig.api.post('number-lookups', { instanceId: id, numbers: ['+393331234567'] })
  const given = { ...secrets, label: 'echo' }
  expect(rig.calls).toEqual([
    ['connect', given],
    ['send', given],
    ['lookup', given],
  ])
})

it('erases the secrets of the login at logout, and all secrets at deletion', async () => {
  const id = await create()
  await rig.api.post(`instances/${id}/connect`)
  expect((await rig.api.post(`instances/${id}/logout`)).status).toBe(200)
  expect(rig.app.sealer.open((await rowOf(id)).credentials as Buffer).toString()).toBe(
    JSON.stringify({ signingKey: secrets.signingKey }),
  )
  const again = await rig.api.post(`instances/${id}/connect`)
  expect([again.status, again.body.error?.message]).toEqual([400, 'settings.token: is required'])
  await rig.api.delete(`instances/${id}`)
  expect((await rowOf(id)).credentials).toBeNull()
  expect(rig.calls.slice(1)).toEqual([
    ['logout', { ...secrets, label: 'echo' }],
    ['logout', { signingKey: secrets.signingKey, label: 'echo' }],
  ])
})

it('keeps no secrets in results that are stored for a repeated request', async () => {
  const key = 'created-once'
  const id = await create(secrets, { 'idempotency-key': key })
  expect(await create(secrets, { 'idempotency-key': key })).toBe(id)
  await rig.api.post(`instances/${id}/connect`, undefined, { 'idempotency-key': 'connected-once' })
  const { rows } = await sql(rig.databaseUrl).query('select result from idempotency_keys where key = any($1)', [
    [key, 'connected-once'],
  ])
  const values = rows.map(({ result }) => deserialize(rig.app.sealer.open(result)).value)
  expect(values.map(({ id: kept, credentials }) => [kept, credentials])).toEqual([
    [id, null],
    [id, null],
  ])
})

it('reports another SECRET_KEY, sends nothing with it, and still logs out and deletes', async () => {
  const id = await create()
  const spare = await create()
  await rig.api.post(`instances/${id}/connect`)
  const messageId = await sendThrough(id)
  const pool = sql(rig.databaseUrl)
  expect(await opensStored(pool, Buffer.from(secretKey, 'hex'))).toBe(true)
  expect(await opensStored(pool, Buffer.from(otherKey, 'hex'))).toBe(false)
  const other = await openApp(rig.databaseUrl, { SECRET_KEY: otherKey })
  withEcho(other, rig.calls)
  rig.calls.length = 0
  expect(await dispatch(other, messageId)).toEqual({ status: 'sending', attempts: 1, providerMessageId: null })
  expect(rig.calls).toEqual([])
  const ctx = contextFor(other, rig.account)
  await logoutInstance(ctx, id)
  await deleteInstance(ctx, spare)
  expect([(await rowOf(id)).credentials, (await rowOf(spare)).credentials]).toEqual([null, null])
  expect(rig.calls).toEqual([
    ['logout', { label: 'echo' }],
    ['logout', { label: 'echo' }],
  ])
})
