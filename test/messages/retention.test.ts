// Retention: what a workspace keeps, what the sweep deletes, and what stays.
import { beforeAll, describe, expect, it } from 'vitest'
import { forgetExpired } from '../../src/messages/retention/forget.ts'
import { readExpiring } from '../../src/messages/retention/retention.sql.ts'
import { sweepMessages } from '../../src/messages/retention/sweep.ts'
import { campaignTo, numbers } from '../campaigns/rig.ts'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import { api as apiOf } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { campaign, expectRefusal, newNumber, newTenant, openRig, type Rig, type Tenant, text } from '../rest-compat/rig.ts'
import { openApp, sweepExpired } from './rig.ts'

let rig: Rig
let tenant: Tenant

beforeAll(async () => {
  rig = await openRig()
})

describe('retention-settings', () => {
  beforeAll(async () => {
    tenant = await newTenant(rig.gateway, rig.databaseUrl)
  })
  const change = `mutation ($input: UpdateRetentionSettingsInput!) { updateRetentionSettings(input: $input) { messagesDays } }`

  it('are none at first, and are kept as they were set, on REST and in the graph', async () => {
    const { api } = tenant
    expect((await api.get('retention-settings')).body).toEqual({ data: { messagesDays: null } })
    for (const messagesDays of [30, 0.5, 0, null]) {
      const answer = await api.put('retention-settings', { messagesDays })
      expect([answer.status, answer.body]).toEqual([200, { data: { messagesDays } }])
      expect((await api.get('retention-settings')).body).toEqual({ data: { messagesDays } })
    }
    expect((await api.graphql(change, { input: { messagesDays: 7 } })).body.data.updateRetentionSettings).toEqual({
      messagesDays: 7,
    })
    expect((await api.graphql('{ retentionSettings { messagesDays } }')).body.data.retentionSettings).toEqual({ messagesDays: 7 })
    expect((await rig.stranger.api.get('retention-settings')).body).toEqual({ data: { messagesDays: null } })
  })

  it.each([
    [{}, 'messagesDays: is required'],
    [{ messagesDays: -1 }, 'messagesDays: must be at least 0'],
    [{ messagesDays: 'x' }, 'messagesDays: must be a number'],
  ])('refuse %j', async (body, message) => {
    expectRefusal(await tenant.api.put('retention-settings', body), 400, 'VALIDATION_ERROR', message)
  })

  it('need a key', async () => {
    expectRefusal(await tenant.api.get('retention-settings', { 'x-api-key': '' }), 401, 'UNAUTHORIZED')
    expectRefusal(await tenant.api.put('retention-settings', {}, { 'x-api-key': '' }), 401, 'UNAUTHORIZED')
  })
})

it('deletes what is older than the workspace keeps, in both directions, and keeps what has not left', async () => {
  const { api, account, instance } = await newTenant(rig.gateway, rig.databaseUrl)
  const send = async (to = newNumber()) => (await api.post('messages/send', { ...text({ instance } as Tenant), to })).body.data.id
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const old = await send('+4915112340006')
  await until(async () => (await api.get(`messages?direction=inbound`)).body.data.messages.length === 1)
  await until(async () => (await api.get(`messages/${old}`)).body.data.status === 'delivered')
  const waiting = (await api.post('messages/schedule', { ...text({ instance } as Tenant), scheduledAt })).body.data.id
  const usage = (await api.get('usage')).body.data.messagesCount
  await sql(rig.databaseUrl).query(`update messages set "createdAt" = now() - interval '3 days' where "workspaceId" = $1`, [
    account.workspaceId,
  ])
  const young = await send()
  await api.put('retention-settings', { messagesDays: 2 })
  const app = await openApp(rig.databaseUrl)
  await sweepExpired(app)
  const left = (await api.get('messages')).body.data.messages.map(({ id }: { id: string }) => id)
  expect(left.sort()).toEqual([waiting, young].sort())
  // A sweep takes a transaction for each workspace that it names, in each minute.
  expect((await readExpiring(app.pool, 0)).map(({ workspaceId }) => workspaceId)).not.toContain(account.workspaceId)
  expect((await api.get('usage')).body.data.messagesCount).toBe(usage + 1)
})

it('deletes what the network accepted and never reported on, counted from that moment, and not what has no outcome yet', async () => {
  const { api, instance } = await newTenant(rig.gateway, rig.databaseUrl)
  const made = await api.post('campaigns', campaignTo(instance.id, numbers(3)))
  const { id } = made.body.data
  const recipients = async () => (await api.get(`campaigns/${id}/recipients`)).body.data.recipients
  await until(async () => (await recipients()).every(({ status }: { status: string }) => status === 'read'))
  const [old, recent, unknown] = (await recipients()).map(({ messageId }: { messageId: string }) => messageId)
  await sql(rig.databaseUrl).query(
    `update messages set status = 'sending', "createdAt" = now() - interval '3 days', "acceptedAt" = now() - u.age,
       "leaseUntil" = case when u.age is null then now() + interval '1 hour' end
     from unnest($1::uuid[], $2::interval[]) as u(id, age) where messages.id = u.id`,
    [
      [old, recent, unknown],
      ['3 days', '1 day', null],
    ],
  )
  await api.put('retention-settings', { messagesDays: 2 })
  await sweepExpired(await openApp(rig.databaseUrl))
  expect((await recipients()).map(({ messageId, status }: Record<string, string>) => [messageId, status])).toEqual([
    [null, 'sent'],
    [recent, 'queued'],
    [unknown, 'queued'],
  ])
})

it('answers a repeated request as one for a message that is gone, and keeps the other answers', async () => {
  const { api, account, instance } = await newTenant(rig.gateway, rig.databaseUrl)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const to = newNumber()
  const body = { ...text({ instance } as Tenant), to }
  const repeat = {
    old: () => api.post('messages/send', body, { 'idempotency-key': 'old' }),
    waiting: () => api.post('messages/schedule', { ...body, scheduledAt }, { 'idempotency-key': 'waiting' }),
    young: () => api.post('messages/send', body, { 'idempotency-key': 'young' }),
    contact: () => api.post('contacts', { name: 'Ada', phone: to }, { 'idempotency-key': 'contact' }),
  }
  const old = await repeat.old()
  await repeat.waiting()
  await until(async () => (await api.get(`messages/${old.body.data.id}`)).body.data.status === 'read')
  await sql(rig.databaseUrl).query(`update messages set "createdAt" = now() - interval '2 days' where "workspaceId" = $1`, [
    account.workspaceId,
  ])
  const kept = { waiting: await repeat.waiting(), young: await repeat.young(), contact: await repeat.contact() }
  await api.put('retention-settings', { messagesDays: 1 })
  const app = await openApp(rig.databaseUrl)
  await sweepExpired(app)
  await forgetExpired(app)
  expectRefusal(await repeat.old(), 404, 'NOT_FOUND')
  for (const [name, { status, body }] of Object.entries(kept)) {
    const again = await repeat[name as keyof typeof kept]()
    expect([again.status, again.headers.get('idempotency-replayed'), again.body], name).toEqual([status, 'true', body])
  }
})

it('keeps the counts of campaigns and the statuses of their recipients', async () => {
  const { api, account, ...rest } = await newTenant(rig.gateway, rig.databaseUrl)
  const recipients = ['+4915112341111', '+4915112340001', '+4915112340005'].map((to) => ({ to }))
  const made = await api.post('campaigns', campaign({ api, account, ...rest }, { recipients, scheduledAt: undefined }))
  const { id } = made.body.data
  const stats = async () => (await api.get(`campaigns/${id}/stats`)).body.data
  await until(async () => (await stats()).status === 'completed' && (await stats()).stats.read === 1, { timeoutMs: 20_000 })
  const before = await stats()
  expect(before.stats).toMatchObject({ read: 1, failed: 1, sent: 1 })
  const list = async (query = '') => (await api.get(`campaigns/${id}/recipients${query}`)).body.data.recipients
  const recipientsBefore = await list()
  await sql(rig.databaseUrl).query(`update messages set "createdAt" = now() - interval '3 days' where "workspaceId" = $1`, [
    account.workspaceId,
  ])
  await api.put('retention-settings', { messagesDays: 2 })
  await sweepExpired(await openApp(rig.databaseUrl))
  expect((await api.get('messages')).body.data.messages).toEqual([])
  expect(await stats()).toEqual(before)
  expect(await list()).toEqual(recipientsBefore.map((one: object) => ({ ...one, messageId: null })))
  expect((await list('?status=read')).map(({ to }: { to: string }) => to)).toEqual(['+4915112341111'])
})

it('RETENTION_DAYS_MESSAGES holds for every workspace, takes fractions, and bounds their own settings', async () => {
  const databaseUrl = await cloneDatabase()
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  const gateway = await openGateway({ databaseUrl, env: { RETENTION_DAYS_MESSAGES: '0.00001', ROLES: 'http,worker,relay' } })
  const api = apiOf(gateway, account.apiKey)
  expectRefusal(
    await api.put('retention-settings', { messagesDays: 1 }),
    400,
    'VALIDATION_ERROR',
    /^messagesDays: must be at most 0.00001, /,
  )
  expect((await api.put('retention-settings', { messagesDays: 0.000001 })).status).toBe(200)
  const { id } = (await api.post('messages/send', { instanceId: instance.id, to: newNumber(), type: 'text', text: 'x' })).body
    .data
  const schedule = await sql(databaseUrl).query(
    `select name, cron from pgboss.schedule where name in ('messages.expire', 'messages.forget') order by name`,
  )
  expect(schedule.rows, 'the worker sweeps once a minute by itself').toEqual([
    { name: 'messages.expire', cron: '* * * * *' },
    { name: 'messages.forget', cron: '*/10 * * * *' },
  ])
  const app = await openApp(databaseUrl, { RETENTION_DAYS_MESSAGES: '0.00001' })
  await until(async () => {
    await sweepMessages(app)
    return (await api.get(`messages/${id}`)).status === 404
  })
})
