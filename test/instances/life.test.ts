// The life of an instance: connecting, pairing, connection loss, logout, deletion, and late reports from its network.
import { beforeAll, expect, it } from 'vitest'
import type { App } from '../../src/core/app.ts'
import { changeState } from '../../src/instances/state.ts'
import type { StateChange } from '../../src/providers/reports.ts'
import { createAccount } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { atRest, expectInvariants } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { openApp } from '../messages/rig.ts'

let scene: Scene
let client: Api
let app: App

beforeAll(async () => {
  // Slow enough for the pairing state to be seen on a busy machine.
  scene = await openScene({ env: { SANDBOX_LATENCY_MS: '5000' } })
  client = scene.client()
  app = await openApp(scene.databaseUrl)
})

async function create(settings: Record<string, unknown> = {}): Promise<string> {
  const { status, body } = await client.post('instances', { name: 'Phone', provider: 'sandbox', settings })
  expect([status, body.data.status, body.data.waNumber]).toEqual([201, 'created', null])
  return body.data.id
}

async function stateOf(id: string) {
  return (await client.get(`instances/${id}/state`)).body.data
}

async function becomes(id: string, status: string) {
  return await until(async () => {
    const state = await stateOf(id)
    return state.status === status && state
  })
}

async function eventsOf(id: string): Promise<string[]> {
  await atRest(scene.databaseUrl)
  const { rows } = await sql(scene.databaseUrl).query(
    `select type, payload from events where "instanceId" = $1 and type like 'instance.%' order by seq`,
    [id],
  )
  for (const { type, payload } of rows) {
    expect(payload).toEqual({
      id: expect.any(String),
      event: type,
      instanceId: id,
      status: expect.any(String),
      timestamp: expect.any(String),
    })
  }
  return rows.map(({ type, payload }) => `${type} ${payload.status}`)
}

/** Applies a state change that the network reports, as a worker does. */
async function hears(instanceId: string, change: Omit<StateChange, 'instanceId'>): Promise<void> {
  await changeState(app, { instanceId, ...change })
}

it('connects at once, with a number that stays the same', async () => {
  const id = await create()
  const { status, body } = await client.post(`instances/${id}/connect`)
  expect([status, body.data.status, body.data.connected]).toEqual([200, 'connected', true])
  const { waNumber } = (await client.get(`instances/${id}`)).body.data
  expect(waNumber).toMatch(/^\+3933\d{8}$/)
  await client.post(`instances/${id}/logout`)
  await client.post(`instances/${id}/connect`, { phone: '+393331234567' })
  expect((await client.get(`instances/${id}`)).body.data).toMatchObject({ status: 'connected', waNumber })
  expect(await eventsOf(id)).toEqual([
    'instance.connected connected',
    'instance.disconnected logged_out',
    'instance.connected connected',
  ])
})

it('shows a QR string while pairing and removes it once connected', async () => {
  const id = await create({ pairing: true })
  const { body } = await client.post(`instances/${id}/connect`)
  expect(body.data).toMatchObject({
    status: 'pairing',
    connected: false,
    qr: expect.stringContaining(id),
    pairingCode: expect.any(String),
  })
  expect(await stateOf(id)).toEqual(body.data)
  const state = await becomes(id, 'connected')
  expect(state).toMatchObject({
    connected: true,
    qr: null,
    pairingCode: null,
    lastError: null,
    lastConnectedAt: expect.any(String),
  })
  expect(await eventsOf(id)).toEqual(['instance.connected connected'])
})

it('connects once, however many concurrent requests ask for it', async () => {
  for (const settings of [{}, { pairing: true }]) {
    const id = await create(settings)
    const answers = await Promise.all(Array.from({ length: 15 }, () => client.post(`instances/${id}/connect`)))
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.data?.status}`)).size).toBe(1)
    await becomes(id, 'connected')
    expect((await client.post(`instances/${id}/connect`)).body.data.status).toBe('connected')
    expect(await eventsOf(id)).toEqual(['instance.connected connected'])
  }
})

it('does not connect after a logout during pairing', async () => {
  const id = await create({ pairing: true })
  await client.post(`instances/${id}/connect`)
  const out = await client.post(`instances/${id}/logout`)
  expect(out.body.data).toMatchObject({ status: 'logged_out', qr: null, pairingCode: null })
  await atRest(scene.databaseUrl)
  expect((await stateOf(id)).status).toBe('logged_out')
  expect(await eventsOf(id)).toEqual([])
})

it('stays connected when it is connected again right after a logout', async () => {
  const id = await create()
  for (let i = 0; i < 5; i++) {
    await client.post(`instances/${id}/connect`)
    await client.post(`instances/${id}/logout`)
  }
  await client.post(`instances/${id}/connect`)
  await atRest(scene.databaseUrl)
  expect((await stateOf(id)).status).toBe('connected')
  expect(await eventsOf(id)).toHaveLength(11)
})

it('ignores reports from its network after a logout and after its deletion', async () => {
  const news = [
    { status: 'connected', waNumber: '+15550100' },
    { status: 'pairing', qr: 'late' },
    { status: 'disconnected', error: 'LATE' },
  ] as const
  const id = await create()
  await client.post(`instances/${id}/connect`)
  await client.post(`instances/${id}/logout`)
  const before = await stateOf(id)
  for (const change of news) await hears(id, change)
  expect(await stateOf(id)).toEqual(before)
  const deleted = await client.delete(`instances/${id}`)
  expect(deleted.body.data).toEqual({ id, deleted: true })
  for (const change of [...news, { status: 'connecting' } as const, { restricted: true }]) await hears(id, change)
  const { rows } = await sql(scene.databaseUrl).query(
    'select status, qr, "waNumber" = $2 as changed, "restrictedAt" from instances where id = $1',
    [id, '+15550100'],
  )
  expect(rows).toEqual([{ status: 'logged_out', qr: null, changed: false, restrictedAt: null }])
  expect(await eventsOf(id)).toEqual(['instance.connected connected', 'instance.disconnected logged_out'])
})

it('publishes a disconnection when a connected instance is deleted', async () => {
  const id = await create()
  await client.post(`instances/${id}/connect`)
  await client.delete(`instances/${id}`)
  expect(await eventsOf(id)).toEqual(['instance.connected connected', 'instance.disconnected logged_out'])
  expect((await client.get('instances')).body.data.map((row: { id: string }) => row.id)).not.toContain(id)
})

it('publishes each change of the connection once, however often the network repeats it', async () => {
  const id = await create()
  await client.post(`instances/${id}/connect`)
  await hears(id, { status: 'connected' })
  await Promise.all(Array.from({ length: 5 }, () => hears(id, { status: 'disconnected', error: 'CONNECTION_LOST' })))
  expect(await stateOf(id)).toMatchObject({
    status: 'disconnected',
    lastError: 'CONNECTION_LOST',
    lastDisconnectedAt: expect.any(String),
  })
  // A restriction says nothing about the connection.
  await hears(id, { restricted: true, error: 'ACCOUNT_RESTRICTED' })
  expect((await stateOf(id)).status).toBe('disconnected')
  await Promise.all(Array.from({ length: 5 }, () => hears(id, { status: 'connected' })))
  expect(await eventsOf(id)).toEqual([
    'instance.connected connected',
    'instance.disconnected disconnected',
    'instance.connected connected',
  ])
  const { rows } = await sql(scene.databaseUrl).query(
    'select array_length(disconnections, 1) as n from instances where id = $1',
    [id],
  )
  expect(rows).toEqual([{ n: 1 }])
})

it('keeps the last 100 disconnections, however often the connection drops in a day', async () => {
  const id = await create()
  await client.post(`instances/${id}/connect`)
  await hears(id, { status: 'connected' })
  await sql(scene.databaseUrl).query(
    `update instances set disconnections = array(select now() - make_interval(secs => 10 * s) from generate_series(5000, 1, -1) s) where id = $1`,
    [id],
  )
  await hears(id, { status: 'disconnected', error: 'CONNECTION_LOST' })
  const { rows } = await sql(scene.databaseUrl).query(
    `select count(*)::int as n, min(d) > now() - interval '1 hour' as latest from instances, unnest(disconnections) d where id = $1`,
    [id],
  )
  expect(rows).toEqual([{ n: 100, latest: true }])
})

it('enforces the instance limit of a plan under concurrent requests', async () => {
  const pro = await createAccount(scene.databaseUrl, { plan: 'pro' })
  const own = scene.client(0, pro)
  const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => own.post('instances', { name: `Phone ${i}` })))
  const outcome = answers.map(({ status, body }) => (status === 201 ? 'created' : `${status} ${body.error.code}`)).sort()
  expect(outcome).toEqual([...Array(15).fill('403 MAX_INSTANCES_REACHED'), ...Array(5).fill('created')])
  const [{ id }] = (await own.get('instances')).body.data
  await own.delete(`instances/${id}`)
  expect((await own.post('instances', { name: 'In its place' })).status).toBe(201)
  expect((await own.post('instances', { name: 'One more' })).body.error.code).toBe('MAX_INSTANCES_REACHED')
})

it('keeps every invariant through the tests above', async () => {
  await expectInvariants(scene.databaseUrl)
})
