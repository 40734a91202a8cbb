// The life of a campaign: it starts at once or at its time, sends to each number once, pauses, resumes and ends.
import { beforeAll, describe, expect, it } from 'vitest'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { slow } from '../kit/fault.ts'
import { expectInvariants } from '../kit/invariants.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { bringForward, campaignTo, expectCreated, expectOnceEach, ledger, numbers, reach, recount, statsOf } from './rig.ts'

let databaseUrl: string
let scene: Scene
let account: Account
let client: Api
let instanceId: string

beforeAll(async () => {
  scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  ;({ databaseUrl, account } = scene)
  client = scene.client()
  instanceId = scene.phone.id
})

/** Delay of each page, so that recipients remain when the test stops the campaign. The campaign rests three times as long. */
const pageMs = 150
let used = 0
function fresh(count: number, end?: string): string[] {
  used += count
  return numbers(count, end, used)
}

async function create(fields: Record<string, unknown> & { to: readonly string[] }): Promise<string> {
  const { to, ...more } = fields
  return expectCreated(await client.post('campaigns', campaignTo(instanceId, to, more)))
}

async function usedQuota(): Promise<number> {
  const { rows } = await sql(databaseUrl).query('select "messagesCount" as n from usage where "userId" = $1', [account.userId])
  return rows[0]?.n ?? 0
}

describe('a campaign', () => {
  it('sends one message to each distinct number and is completed', async () => {
    const to = fresh(120)
    const id = await create({ to: [...to, ...to] })
    const { stats, progressPercent, timeline } = await reach(client, id, 'completed')
    expect([stats.total, progressPercent]).toEqual([120, 100])
    await until(async () => (await statsOf(client, id)).stats.read === 120)
    await expectOnceEach(databaseUrl, id, to)
    expect(timeline).toMatchObject({ scheduledFor: null, cancelledAt: null })
    const { processingStartedAt, lastEnqueuedAt, completedAt } = timeline as Record<string, string>
    expect([processingStartedAt, lastEnqueuedAt, completedAt].sort()).toEqual([processingStartedAt, lastEnqueuedAt, completedAt])
  })

  it('counts unreachable recipients as failed and is completed all the same', async () => {
    const id = await create({ to: [...fresh(5), ...fresh(4, '0001'), ...fresh(3, '0002')] })
    await reach(client, id, 'completed')
    const stats = await until(async () => {
      const { stats } = await statsOf(client, id)
      return stats.sent + stats.delivered === 0 && stats
    })
    expect(stats).toMatchObject({ total: 12, read: 5, failed: 7, planned: 0, queued: 0 })
  })

  it('starts at its time and not before', async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000)
    const to = fresh(60)
    const id = await create({ to, scheduledAt })
    expect(await statsOf(client, id)).toMatchObject({
      status: 'scheduled',
      progressPercent: 0,
      stats: { total: 60, planned: 60 },
      timeline: { scheduledFor: scheduledAt.toISOString(), processingStartedAt: null, lastEnqueuedAt: null },
    })
    const jobs = `select start_after from pgboss.job where name = 'campaign.advance' and data->>'id' = $1`
    expect((await sql(databaseUrl).query(jobs, [id])).rows).toEqual([{ start_after: scheduledAt }])
    // The job runs before the time of the campaign.
    const soon = new Date(Date.now() + 1_000)
    await bringForward(databaseUrl, id, soon)
    const { timeline } = await reach(client, id, 'completed')
    expect(Date.parse(timeline.processingStartedAt as string)).toBeGreaterThanOrEqual(soon.getTime())
    const { rows } = await sql(databaseUrl).query(
      `select from messages m join sandbox_messages s on s.reference = m.id::text where m."campaignId" = $1 and s."acceptedAt" < $2`,
      [id, soon],
    )
    expect(rows).toEqual([])
    await expectOnceEach(databaseUrl, id, to)
  })

  it('is sent beyond the recipient cap of a new instance, with a warning on its messages', async () => {
    const young = await connectedInstance(databaseUrl, account, { ageDays: 0 })
    const id = expectCreated(await client.post('campaigns', campaignTo(young.id, fresh(21))))
    await reach(client, id, 'completed')
    const { messages } = (await client.get(`messages?campaignId=${id}&sort=createdAt:asc&limit=100`)).body.data
    expect(messages).toHaveLength(21)
    // Only the first message: sending to strangers soon puts the instance at risk, which has other caps.
    expect(messages[0]).toMatchObject({ safety: { decision: 'warn', state: 'new' } })
    expect(messages[0].warnings).toContain('maxCampaignRecipients exceeded: 21 of 20')
  })

  it('waits for an instance that is not connected, and is sent once it connects', async () => {
    const away = await connectedInstance(databaseUrl, account, { status: 'created' })
    const to = fresh(60)
    const id = expectCreated(await client.post('campaigns', campaignTo(away.id, to)))
    await until(async () => (await statsOf(client, id)).stats.queued === 60)
    expect(await ledger(databaseUrl, id)).toEqual(new Map())
    expect((await client.post(`instances/${away.id}/connect`)).status).toBe(200)
    await reach(client, id, 'completed')
    await expectOnceEach(databaseUrl, id, to)
  })

  it('fails for the remaining recipients when its instance is deleted', async () => {
    const doomed = await connectedInstance(databaseUrl, account, { status: 'created' })
    const id = expectCreated(await client.post('campaigns', campaignTo(doomed.id, fresh(560))))
    await until(async () => (await statsOf(client, id)).stats.queued === 500)
    expect((await client.delete(`instances/${doomed.id}`)).status).toBe(200)
    await reach(client, id, 'failed')
    await until(async () => (await statsOf(client, id)).stats.failed === 560)
    const answer = await client.graphql('query ($id: ID!) { campaign(id: $id) { status error } }', { id })
    expect(answer.body.data.campaign).toEqual({ status: 'failed', error: 'INSTANCE_DELETED' })
    expect((await client.post(`campaigns/${id}/resume`)).body.error.code).toBe('INVALID_STATE')
  })
})

describe('pausing', () => {
  it('returns queued messages to planned with their quota, and a resume sends to each number once', async () => {
    const to = fresh(400)
    const before = await usedQuota()
    const hasten = await slow(databaseUrl, 'update', 'campaigns', pageMs)
    const id = await create({ to })
    await until(async () => (await statsOf(client, id)).stats.planned < 300)
    const paused = await client.post(`campaigns/${id}/pause`)
    expect([paused.status, paused.body.data.status]).toEqual([200, 'paused'])
    await hasten()
    const { stats } = await statsOf(client, id)
    expect(stats.planned).toBeGreaterThan(0)
    // Only messages that a worker had already claimed are still sent.
    await until(async () => (await statsOf(client, id)).stats.queued === 0)
    const quiet = await recount(databaseUrl, id)
    expect(quiet.planned).toBe(stats.planned)
    expect(await usedQuota()).toBe(before + 400 - stats.planned)
    expect((await ledger(databaseUrl, id)).size).toBe(400 - stats.planned)
    expect((await client.post(`campaigns/${id}/resume`)).body.data.status).toBe('running')
    await reach(client, id, 'completed')
    await expectOnceEach(databaseUrl, id, to)
    expect(await usedQuota()).toBe(before + 400)
  })

  it('takes back messages that wait for their instance, and leaves no jobs for them', async () => {
    const away = await connectedInstance(databaseUrl, account, { status: 'created' })
    const id = expectCreated(await client.post('campaigns', campaignTo(away.id, fresh(30))))
    const waiting = `select from messages where "campaignId" = $1 and "waitingSince" is not null`
    await until(async () => (await sql(databaseUrl).query(waiting, [id])).rowCount === 30)
    const { rows } = await sql(databaseUrl).query('select id::text from messages where "campaignId" = $1', [id])
    await client.post(`campaigns/${id}/pause`)
    expect((await statsOf(client, id)).stats).toMatchObject({ planned: 30, queued: 0 })
    const jobs = `select from pgboss.job where state < 'completed' and (data->>'id' = any($1) or data->'ids' ?| $1)`
    await until(async () => (await sql(databaseUrl).query(jobs, [rows.map((row) => row.id)])).rowCount === 0)
    expect((await client.post(`campaigns/${id}/cancel`)).status).toBe(200)
  })

  it('keeps a scheduled campaign from starting; a resume waits for its time, or starts at once when that is past', async () => {
    const scheduledAt = new Date(Date.now() + 3_600_000)
    const [first, second] = [await create({ to: fresh(3), scheduledAt }), await create({ to: fresh(3), scheduledAt })]
    for (const id of [first, second]) expect((await client.post(`campaigns/${id}/pause`)).body.data.status).toBe('paused')
    await bringForward(databaseUrl, first)
    const jobs = `select from pgboss.job where name = 'campaign.advance' and state < 'completed' and data->>'id' = $1`
    await until(async () => (await sql(databaseUrl).query(jobs, [first])).rowCount === 0)
    expect(await recount(databaseUrl, first)).toMatchObject({ planned: 3 })
    expect((await client.post(`campaigns/${first}/resume`)).body.data.status).toBe('running')
    expect((await client.post(`campaigns/${second}/resume`)).body.data.status).toBe('scheduled')
    await reach(client, first, 'completed')
    expect((await statsOf(client, second)).status).toBe('scheduled')
    expect((await client.post(`campaigns/${second}/cancel`)).body.data.status).toBe('cancelled')
  })

  it('happens automatically when the quota is used up, and no recipient is lost', async () => {
    const small = await createAccount(databaseUrl, { plan: 'free' })
    const phone = await connectedInstance(databaseUrl, small)
    const own = scene.client(0, small)
    const setUsed = (n: number) =>
      sql(databaseUrl).query(
        `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc'), $2)
         on conflict ("userId", period) do update set "messagesCount" = $2`,
        [small.userId, n],
      )
    await setUsed(430)
    const to = fresh(110)
    const id = expectCreated(await own.post('campaigns', campaignTo(phone.id, to)))
    expect((await reach(own, id, 'paused')).stats).toMatchObject({ total: 110, planned: 40 })
    const why = await own.graphql('query ($id: ID!) { campaign(id: $id) { error } }', { id })
    expect(why.body.data.campaign.error).toBe('MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
    // Resumed without any quota, it pauses again.
    expect((await own.post(`campaigns/${id}/resume`)).body.data.status).toBe('running')
    expect((await reach(own, id, 'paused')).stats.planned).toBe(40)
    await setUsed(70)
    await own.post(`campaigns/${id}/resume`)
    await reach(own, id, 'completed')
    await expectOnceEach(databaseUrl, id, to)
    expect((await own.get('usage')).body.data.messagesCount).toBe(110)
  })

  it('happens automatically when the subscription is inactive', async () => {
    const lapsed = await createAccount(databaseUrl)
    const phone = await connectedInstance(databaseUrl, lapsed)
    const own = scene.client(0, lapsed)
    const scheduledAt = new Date(Date.now() + 3_600_000)
    const id = expectCreated(await own.post('campaigns', campaignTo(phone.id, fresh(3), { scheduledAt })))
    await sql(databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [lapsed.userId])
    await bringForward(databaseUrl, id)
    expect((await reach(own, id, 'paused')).stats).toMatchObject({ planned: 3 })
    expect((await own.post(`campaigns/${id}/resume`)).body.error.code).toBe('SUBSCRIPTION_INACTIVE')
  })
})

describe('cancelling', () => {
  it('ends the campaign: unsent messages are never sent, and their quota is returned', async () => {
    const before = await usedQuota()
    const hasten = await slow(databaseUrl, 'update', 'campaigns', pageMs)
    const id = await create({ to: fresh(400) })
    await until(async () => (await statsOf(client, id)).stats.planned < 350)
    const answer = await client.post(`campaigns/${id}/cancel`)
    expect([answer.status, answer.body.data.status]).toEqual([200, 'cancelled'])
    await hasten()
    await until(async () => (await statsOf(client, id)).stats.queued === 0)
    const { stats, timeline, progressPercent } = await statsOf(client, id)
    expect([stats.planned, progressPercent]).toEqual([0, 100])
    expect(timeline.cancelledAt).toBe(answer.body.data.updatedAt)
    expect((await ledger(databaseUrl, id)).size).toBe(400 - stats.cancelled)
    expect(await usedQuota()).toBe(before + 400 - stats.cancelled)
    for (const action of ['pause', 'resume', 'cancel'])
      expect((await client.post(`campaigns/${id}/${action}`)).body.error.code).toBe('INVALID_STATE')
  })

  it('leaves no job for messages that wait for their instance', async () => {
    const away = await connectedInstance(databaseUrl, account, { status: 'created' })
    const id = expectCreated(await client.post('campaigns', campaignTo(away.id, fresh(3))))
    const jobs = `select from pgboss.job j join messages m on m.id = j.id where m."campaignId" = $1`
    const left = async () => (await sql(databaseUrl).query(jobs, [id])).rowCount
    await until(async () => (await left()) === 3)
    expect((await client.post(`campaigns/${id}/cancel`)).status).toBe(200)
    expect(await left()).toBe(0)
  })
})

it('keeps every invariant through the tests above', async () => {
  await expectInvariants(databaseUrl)
})
