// Changing an instance: its name, its settings in place, its callback address, and who may see and change them.
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { codeOf } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import type { JobImplementation } from '../../src/core/jobs/jobs.ts'
import { updateInstance } from '../../src/instances/service.ts'
import { changeState } from '../../src/instances/state.ts'
import { dispatchImplementations } from '../../src/messages/dispatch/dispatch.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { contextFor } from '../messages/rig.ts'
import { openRig, type Rig, secrets } from '../providers/rig.ts'

const fields = 'id name settings callbackUrl verifyToken'
const change = `mutation ($id: ID!, $input: UpdateInstanceInput!) { updateInstance(id: $id, input: $input) { ${fields} } }`
let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

beforeEach(() => {
  rig.calls.length = 0
})

async function create(provider: string, settings: unknown): Promise<string> {
  const { status, body } = await rig.api.post('instances', { name: 'Phone', provider, settings })
  expect(status).toBe(201)
  return body.data.id
}

const put = (id: string, body: unknown) => rig.api.put(`instances/${id}`, body)

async function shown(id: string) {
  return (await rig.api.graphql(`query ($id: ID!) { instance(id: $id) { ${fields} } }`, { id })).body.data.instance
}

describe('an instance', () => {
  it('is renamed, over REST and in the graph, and keeps its settings', async () => {
    const id = await create('web', secrets)
    const { status, body } = await put(id, { name: 'Support', nonsense: 1 })
    expect([status, body.data]).toEqual([200, expect.objectContaining({ id, name: 'Support', status: 'created' })])
    expect(body.data).not.toHaveProperty('settings')
    expect(JSON.stringify(body)).not.toMatch(/secret/)
    const again = await rig.api.graphql(change, { id, input: { name: 'Sales' } })
    const whole = { id, name: 'Sales', settings: { label: 'echo' }, verifyToken: secrets.signingKey }
    expect(again.body.data.updateInstance).toEqual({ ...whole, callbackUrl: expect.stringMatching(`/providers/web/${id}$`) })
    expect(await shown(id)).toEqual(again.body.data.updateInstance)
  })

  it('uses a new token from the next message on', async () => {
    const id = await create('web', secrets)
    await rig.api.post(`instances/${id}/connect`)
    expect((await put(id, { settings: { token: 'rotated', label: 'new' } })).status).toBe(200)
    const message = { instanceId: id, to: '+393331234567', type: 'text', text: 'hello' }
    const { body } = await rig.api.post('messages/send', message)
    const [instant] = dispatchImplementations as [JobImplementation]
    await instant.run(rig.app, [{ id: body.data.id }])
    expect(rig.calls).toEqual([
      ['connect', { ...secrets, label: 'echo' }],
      ['send', { ...secrets, token: 'rotated', label: 'new' }],
    ])
    const { rows } = await sql(rig.databaseUrl).query('select settings, credentials from instances where id = $1', [id])
    expect(rows[0].settings).toEqual({ label: 'new' })
    expect(rows[0].credentials.toString('latin1')).not.toMatch(/secret|rotated/)
  })

  it('connects by itself with a new token if it is disconnected, and only then', async () => {
    const id = await create('web', secrets)
    const status = async () => (await rig.api.get(`instances/${id}`)).body.data.status
    await put(id, { settings: { token: 'first' } })
    expect(await status()).toBe('created')
    await rig.api.post(`instances/${id}/connect`)
    await changeState(rig.app, { instanceId: id, status: 'disconnected', error: 'the access token was refused (190)' })
    await put(id, { settings: { label: 'new' } })
    expect(await status()).toBe('disconnected')
    expect((await put(id, { settings: { token: 'second' } })).body.data.status).toBe('connected')
    await rig.api.post(`instances/${id}/logout`)
    await put(id, { settings: { token: 'third' } })
    expect(await status()).toBe('logged_out')
    expect(rig.calls.map(([name]) => name)).toEqual(['connect', 'connect', 'logout'])
  })

  it.each<[body: unknown, message: string]>([
    [{}, 'body: must change name or settings'],
    [{ nonsense: 1 }, 'body: must change name or settings'],
    [{ name: null }, 'name: must not be null'],
    [{ name: ' ' }, 'name: must not be blank'],
    [{ settings: [] }, 'settings: must be an object'],
    [{ settings: { label: 'a\0' } }, 'settings.label: must not contain NUL or unpaired surrogates'],
    [
      { settings: { token: '', label: 5, colour: 'red' } },
      'settings.token: must not be empty; settings.label: must be a string; settings.colour: is unknown',
    ],
    [{ settings: { token: null } }, 'settings.token: is required'],
  ])('refuses %j', async (body, message) => {
    const id = await create('web', secrets)
    const rest = await put(id, body)
    expect([rest.status, rest.body.error]).toEqual([400, { code: 'VALIDATION_ERROR', message }])
    expect((await shown(id)).settings).toEqual({ label: 'echo' })
  })

  it('is not found by others, and not without an id', async () => {
    const stranger = contextFor(rig.app, { ...rig.account, workspaceId: newId() })
    const id = await create('sandbox', {})
    await expect(updateInstance(stranger, id, { name: 'Mine' })).rejects.toThrow('Instance not found')
    expect((await put('5', {})).body.error.message).toBe('id: must be a UUID; body: must change name or settings')
  })

  it('is changed by owners and admins only, who alone see the verify token', async () => {
    const id = await create('web', secrets)
    const ctx = contextFor(rig.app, rig.account)
    const as = (role: 'owner' | 'admin' | 'collaborator') => ({ ...ctx, principal: { ...ctx.principal, role } })
    const refused = await updateInstance(as('collaborator'), id, { name: 'Mine' }).catch((error: unknown) => error)
    expect(codeOf(refused)).toBe('FORBIDDEN')
    for (const role of ['owner', 'admin'] as const) expect((await updateInstance(as(role), id, { name: role })).name).toBe(role)
  })

  it('shows the verify token to keys with full access only', async () => {
    const id = await create('web', secrets)
    const tokenFor = async (access: 'full' | 'read' | 'send') => {
      const { key } = await createApiKey(rig.app.db, { email: rig.account.email, name: access, access })
      const query = `{ instance(id: "${id}") { verifyToken } instances { verifyToken } }`
      const answer = await api({ url: rig.url }, key).graphql(query)
      return [answer.body.data.instance.verifyToken, answer.body.data.instances.at(-1).verifyToken]
    }
    expect(await tokenFor('full')).toEqual([secrets.signingKey, secrets.signingKey])
    expect(await tokenFor('read')).toEqual([null, null])
    expect(await tokenFor('send')).toEqual([null, null])
  })
})

it('changes the loose settings of a sandbox, which has neither callback nor token', async () => {
  const id = await create('sandbox', { pairing: true, colour: 'red' })
  expect((await put(id, { settings: { colour: null, size: 5 } })).status).toBe(200)
  expect(await shown(id)).toMatchObject({ settings: { pairing: true, size: 5 }, callbackUrl: null, verifyToken: null })
})
