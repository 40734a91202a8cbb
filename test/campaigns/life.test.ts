// A campaign's life: begins at once or at its time, reaches everyone once, pauses, resumes, ends.
import { beforeAll, expect, it } from 'vitest'
import { expectInvariants } from '../kit/invariants.ts'
import {
  type Account,
  type Api,
  api,
  cloneDatabase,
  connectedInstance,
  createAccount,
  sql,
  startGateway,
  until,
} from '../kit/kit.ts'
import { campaignTo, expectCreated, ledger, numbers, reach, recount, statsOf } from './rig.ts'

let databaseUrl: string
let account: Account
let client: Api
let instanceId: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  account = await createAccount(databaseUrl)
  instanceId = (await connectedInstance(databaseUrl, account)).id
  const gateway = await startGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '10000', LOG_LEVEL: 'warn' } })
  client = api(gateway, account.apiKey)
})

it('sends one message to each distinct number and is completed', async () => {
  const to = numbers(120)
  const id = expectCreated(await client.post('campaigns', campaignTo(instanceId, [...to, ...to])))
  const { stats, progressPercent } = await reach(client, id, 'completed')
  expect(stats.total).toBe(120)
  expect(progressPercent).toBe(100)
  await until(async () => (await statsOf(client, id)).stats.read === 120)
  expect(await ledger(databaseUrl, id)).toEqual(new Map(to.map((number) => [number, 1])))
})

it('returns what is queued to planned when it pauses, and goes on when it is resumed', async () => {
  const to = numbers(300, '5555', 1000)
  const id = expectCreated(await client.post('campaigns', campaignTo(instanceId, to)))
  await until(async () => (await statsOf(client, id)).stats.planned < 250)
  const paused = await client.post(`campaigns/${id}/pause`)
  expect([paused.status, paused.body.data.status]).toEqual([200, 'paused'])
  const { stats } = await statsOf(client, id)
  expect(stats).toEqual(await recount(databaseUrl, id))
  expect(stats.planned).toBeGreaterThan(0)
  expect((await client.post(`campaigns/${id}/pause`)).body.error.code).toBe('INVALID_STATE')
  const resumed = await client.post(`campaigns/${id}/resume`)
  expect([resumed.status, resumed.body.data.status]).toEqual([200, 'running'])
  await reach(client, id, 'completed')
  expect(await ledger(databaseUrl, id)).toEqual(new Map(to.map((number) => [number, 1])))
})

it('keeps every promise through all of that', async () => {
  await expectInvariants(databaseUrl)
  await sql(databaseUrl).query('select 1')
})
