// REST routes of instances: their records, refusals and lifecycle.
import { beforeAll, describe, expect, it } from 'vitest'
import { ProviderName } from '../../src/generated/prisma/enums.ts'
import { api } from '../kit/api.ts'
import { until } from '../kit/until.ts'
import { countOf, expectRefusal, moment, newTenant, nobody, openRig, phone, type Rig, type Tenant, uuid } from './rig.ts'

const providerNames = Object.values(ProviderName).join(', ')
let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

function instanceRecord(fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    name: 'Phone',
    waNumber: null,
    status: 'created',
    webhook: null,
    meta: null,
    deletedAt: null,
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

function stateRecord(instanceId: string, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    instanceId,
    status: 'created',
    connected: false,
    qr: null,
    pairingCode: null,
    lastConnectedAt: null,
    lastDisconnectedAt: null,
    lastError: null,
    ...fields,
  }
}

async function create(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  return (await tenant.api.post('instances', { name: 'Phone', ...fields })).body.data.id
}

function stateOf(id: string) {
  return rig.tenant.api.get(`instances/${id}/state`)
}

describe('an instance', () => {
  it('is created, connected, logged out, connected again and deleted', async () => {
    const { api } = rig.tenant
    const created = await api.post('instances', { name: 'Phone', nonsense: 1 })
    expect({ status: created.status, body: created.body }).toStrictEqual({ status: 201, body: { data: instanceRecord() } })
    const { id } = created.body.data
    expect((await stateOf(id)).body).toStrictEqual({ data: stateRecord(id) })

    const connecting = await api.post(`instances/${id}/connect`)
    expect(connecting.status).toBe(200)
    expect(connecting.body.data).toMatchObject({ instanceId: id, status: expect.stringMatching(/^connect(ing|ed)$/) })
    await until(async () => (await stateOf(id)).body.data.connected)
    expect((await stateOf(id)).body).toStrictEqual({
      data: stateRecord(id, { status: 'connected', connected: true, lastConnectedAt: moment }),
    })
    const { body } = await api.get(`instances/${id}`)
    expect(body).toStrictEqual({ data: instanceRecord({ id, status: 'connected', waNumber: phone }) })

    const out = await api.post(`instances/${id}/logout`)
    expect({ status: out.status, body: out.body }).toStrictEqual({
      status: 200,
      body: { data: stateRecord(id, { status: 'logged_out', lastConnectedAt: moment, lastDisconnectedAt: moment }) },
    })
    await api.post(`instances/${id}/connect`, { phone: '+393331234567' })
    await until(async () => (await stateOf(id)).body.data.connected)
    expect((await api.get(`instances/${id}`)).body.data.waNumber).toBe(body.data.waNumber)

    const gone = await api.delete(`instances/${id}`)
    expect({ status: gone.status, body: gone.body }).toStrictEqual({ status: 200, body: { data: { id, deleted: true } } })
    for (const path of ['', '/state', '/health'])
      expectRefusal(await api.get(`instances/${id}${path}`), 404, 'NOT_FOUND', 'Instance not found')
    expectRefusal(await api.delete(`instances/${id}`), 404, 'NOT_FOUND', 'Instance not found')
    expect((await api.get('instances')).body.data.map((row: { id: string }) => row.id)).not.toContain(id)
  })

  it('connects with pairing enabled and clears the codes afterwards', async () => {
    const id = await create(rig.tenant, { settings: { pairing: true }, provider: 'sandbox' })
    await rig.tenant.api.post(`instances/${id}/connect`)
    await until(async () => (await stateOf(id)).body.data.connected)
    expect((await stateOf(id)).body.data).toMatchObject({ qr: null, pairingCode: null })
  })

  it('is listed, oldest first, for its owner only', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl)
    const second = await create(tenant, { name: 'Second' })
    const { status, body } = await tenant.api.get('instances')
    expect({ status, body }).toStrictEqual({
      status: 200,
      body: {
        data: [
          instanceRecord({ id: tenant.instance.id, status: 'connected', waNumber: tenant.instance.waNumber }),
          instanceRecord({ id: second, name: 'Second' }),
        ],
      },
    })
    expect((await rig.stranger.api.get('instances')).body.data.map((row: { id: string }) => row.id)).toEqual([
      rig.stranger.instance.id,
    ])
  })

  it.each<[string, unknown, string | RegExp]>([
    ['no name', {}, 'name: is required'],
    ['an empty name', { name: '' }, 'name: must not be empty'],
    ['a name of 101', { name: 'x'.repeat(101) }, 'name: must have at most 100 characters'],
    ['NUL in a name', { name: 'a\0' }, 'name: must not contain NUL or unpaired surrogates'],
    ['a number as name', { name: 5 }, 'name: must be a string'],
    ['an unknown provider', { name: 'x', provider: 'pigeon' }, `provider: must be one of ${providerNames}`],
    [
      'settings that the network needs',
      { name: 'x', provider: 'cloud', settings: { phoneNumberId: '1', businessAccountId: '2', appSecret: 's' } },
      'settings.accessToken: is required',
    ],
    ['settings that are no object', { name: 'x', settings: [] }, 'settings: must be an object'],
    [
      'NUL in settings',
      { name: 'x', settings: { a: { b: 'x\0' } } },
      'settings.a.b: must not contain NUL or unpaired surrogates',
    ],
    [
      'half a pair in settings',
      { name: 'x', settings: { a: '\ud800' } },
      'settings.a: must not contain NUL or unpaired surrogates',
    ],
  ])('is refused with %s', async (_, body, message) => {
    expectRefusal(await rig.tenant.api.post('instances', body), 400, 'VALIDATION_ERROR', message)
  })

  it('is accepted with a name of 100 characters', async () => {
    expect((await rig.tenant.api.post('instances', { name: 'é'.repeat(100) })).status).toBe(201)
  })

  it('is refused beyond the limit of the plan, also under concurrent creation', async () => {
    const free = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    expectRefusal(
      await free.api.post('instances', { name: 'x' }),
      403,
      'MAX_INSTANCES_REACHED',
      'The plan allows no more instances',
    )
    await free.api.delete(`instances/${free.instance.id}`)
    const race = await Promise.all(Array.from({ length: 8 }, () => free.api.post('instances', { name: 'x' })))
    expect(race.map((answer) => answer.status).sort()).toEqual([201, ...Array(7).fill(403)])
  })

  it.each(['get /', 'get /state', 'get /health', 'post /connect', 'post /logout', 'delete /'])(
    'of another account is not found by %s',
    async (call) => {
      const [method, path] = call.split(' ') as ['get' | 'post' | 'delete', string]
      const ask = (id: string) => rig.stranger.api[method](`instances/${id}${path === '/' ? '' : path}`)
      const foreign = await ask(rig.tenant.instance.id)
      expectRefusal(foreign, 404, 'NOT_FOUND', 'Instance not found')
      expect((await ask(nobody)).body).toEqual(foreign.body)
      expectRefusal(await ask('5'), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
      expect((await stateOf(rig.tenant.instance.id)).body.data.connected).toBe(true)
    },
  )

  it('refuses to connect with an invalid phone number', async () => {
    const path = `instances/${rig.tenant.instance.id}/connect`
    expectRefusal(await rig.tenant.api.post(path, { phone: '5' }), 400, 'VALIDATION_ERROR', /^phone: must be an E\.164 number/)
    expectRefusal(await rig.tenant.api.post(path, { phone: 5 }), 400, 'VALIDATION_ERROR', /^phone: must be/)
  })
})

it('stores no refused instance, and refuses a list without a key', async () => {
  expect(await countOf(rig, 'instances', "(name = '' or provider <> 'sandbox')")).toBe(0)
  expectRefusal(await api(rig.gateway).get('instances'), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
})
