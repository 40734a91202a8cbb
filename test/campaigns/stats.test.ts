// The statistics of a campaign: equal to a recount at every moment, published live, and cheap to read.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { advance } from '../../src/campaigns/advance.ts'
import { createCampaign } from '../../src/campaigns/create.ts'
import { statsOf as readStats } from '../../src/campaigns/stats.ts'
import type { Context } from '../../src/core/context.ts'
import { safetyCache } from '../../src/messages/safety/safety.ts'
import { openSse } from '../events/sse.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import type { Gateway } from '../kit/gateway.ts'
import { atRest, expectInvariants } from '../kit/invariants.ts'
import { openScene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { contextFor, openApp } from '../messages/rig.ts'
import { bringForward, type Counters, campaignTo, expectCreated, numbers, reach, statsOf } from './rig.ts'

let databaseUrl: string
let account: Account
let gateway: Gateway
let client: Api
let instanceId: string

beforeAll(async () => {
  const scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  ;({ databaseUrl, account } = scene)
  gateway = scene.gateways[0] as Gateway
  client = scene.client()
  instanceId = scene.phone.id
})

function sum(stats: Counters): number {
  const { total: _, ...parts } = stats
  return Object.values(parts).reduce((all, n) => all + n, 0)
}

/** Counts every recipient in the same snapshot (repeatable read) as the statistics, so that both see one moment. */
async function bothCounts(ctx: Context, id: string): Promise<[Counters, Record<string, number>]> {
  const client = await ctx.app.pool.connect()
  try {
    await client.query('begin isolation level repeatable read')
    const one = { ...ctx, app: { ...ctx.app, pool: client } } as unknown as Context
    const { stats } = await readStats(one, id)
    const { rows } = await client.query<{ state: string; n: number }>(
      `select case when r.status <> 'enqueued' then r.status::text when m.status = 'sending' then 'queued' else m.status::text end as state,
         count(*)::int as n
       from campaign_recipients r left join messages m on m.id = r."messageId" where r."campaignId" = $1 group by 1`,
      [id],
    )
    return [stats, Object.fromEntries(rows.map(({ state, n }) => [state, n]))]
  } finally {
    await client.query('rollback')
    client.release()
  }
}

it('counts a single message that is cancelled as cancelled', async () => {
  const away = await connectedInstance(databaseUrl, account, { status: 'created' })
  const id = expectCreated(await client.post('campaigns', campaignTo(away.id, numbers(3))))
  await until(async () => (await statsOf(client, id)).stats.queued === 3)
  const { messages } = (await client.get(`messages?campaignId=${id}`)).body.data
  expect((await client.post(`messages/${messages[0].id}/cancel`)).status).toBe(200)
  expect((await statsOf(client, id)).stats).toMatchObject({ queued: 2, cancelled: 1, planned: 0 })
  expect((await client.post(`campaigns/${id}/cancel`)).status).toBe(200)
  expect((await statsOf(client, id)).stats).toMatchObject({ queued: 0, cancelled: 3 })
})

it('equals a recount at every moment of a campaign that is sent, paused, resumed and cancelled', async () => {
  const ctx = contextFor(await openApp(databaseUrl), account)
  const answering = numbers(25, '0006')
  const to = [...numbers(250), ...numbers(25, '0001'), ...numbers(25, '0002'), ...answering]
  const id = expectCreated(await client.post('campaigns', campaignTo(instanceId, to)))
  let going = true
  const steer = async () => {
    for (const action of ['pause', 'resume', 'pause', 'resume']) {
      await pause(250)
      await client.post(`campaigns/${id}/${action}`)
    }
    await until(async () => (await statsOf(client, id)).stats.planned < 120)
    await client.post(`campaigns/${id}/cancel`)
    await until(async () => {
      const { stats } = await statsOf(client, id)
      // The numbers that answer stay delivered, if the campaign came to them before it was cancelled.
      return stats.queued + stats.sent === 0 && stats.delivered <= answering.length
    })
  }
  const steering = steer().finally(() => {
    going = false
  })
  const seen = new Set<string>()
  let percent = 0
  while (going) {
    const [stats, found] = await bothCounts(ctx, id)
    const { total, ...parts } = stats
    expect(Object.fromEntries(Object.entries(parts).filter(([, n]) => n > 0))).toEqual(found)
    expect([total, sum(stats)]).toEqual([325, 325])
    seen.add(JSON.stringify(found))
    const outcome = await statsOf(client, id)
    expect(outcome.progressPercent).toBe(
      Math.floor((100 * (outcome.stats.total - outcome.stats.planned - outcome.stats.queued)) / outcome.stats.total),
    )
    expect(outcome.progressPercent).toBeGreaterThanOrEqual(percent)
    percent = outcome.progressPercent
  }
  await steering
  expect(seen.size).toBeGreaterThan(3)
  console.log(`${seen.size} different moments were counted`)
  await expectInvariants(databaseUrl)
})

describe('live statistics', () => {
  const subscription = `subscription ($id: ID!) {
    campaignStats(id: $id) { status progressPercent stats { total planned queued sent delivered read failed cancelled } timeline { lastActivityAt } }
  }`

  it('start with the current state, end with the final one, and arrive at most ten times a second', async () => {
    // The campaign starts once the subscription is open, however long that takes.
    const scheduledAt = new Date(Date.now() + 3_600_000)
    const id = expectCreated(await client.post('campaigns', campaignTo(instanceId, numbers(600, '5555', 5_000), { scheduledAt })))
    const reader = await openSse(new URL('/graphql', gateway.url), {
      headers: { 'x-api-key': account.apiKey },
      body: { query: subscription, variables: { id } },
    })
    const outcome = () => reader.events.map(({ data }) => JSON.parse(data ?? '').data.campaignStats)
    await until(() => outcome()[0]?.status === 'scheduled')
    const began = Date.now()
    await bringForward(databaseUrl, id)
    await reach(client, id, 'completed')
    await until(() => outcome().at(-1)?.stats.read === 600 && outcome().at(-1)?.status === 'completed')
    const values = outcome()
    const final = await statsOf(client, id)
    expect(values.at(-1)).toEqual({
      status: 'completed',
      progressPercent: 100,
      stats: final.stats,
      timeline: { lastActivityAt: final.timeline.lastActivityAt },
    })
    for (const { stats } of values) expect(sum(stats)).toBe(600)
    expect(values.length).toBeGreaterThanOrEqual(3)
    expect(values.length).toBeLessThan(3 + (Date.now() - began) / 100)
    reader.close()
  })

  it('report a pause, a single cancelled message and the end at once', async () => {
    const away = await connectedInstance(databaseUrl, account, { status: 'created' })
    const id = expectCreated(await client.post('campaigns', campaignTo(away.id, numbers(3))))
    const reader = await openSse(new URL('/graphql', gateway.url), {
      headers: { 'x-api-key': account.apiKey },
      body: { query: subscription, variables: { id } },
    })
    const last = () => JSON.parse(reader.events.at(-1)?.data ?? '{}').data?.campaignStats
    await until(() => last()?.stats.queued === 3)
    const { messages } = (await client.get(`messages?campaignId=${id}`)).body.data
    await client.post(`messages/${messages[0].id}/cancel`)
    await until(() => last()?.stats.cancelled === 1)
    await client.post(`campaigns/${id}/pause`)
    await until(() => last()?.status === 'paused' && last()?.stats.planned === 2)
    await client.post(`campaigns/${id}/cancel`)
    await until(() => last()?.status === 'cancelled' && last()?.stats.cancelled === 3)
    reader.close()
  })

  it('are refused for a campaign of another account or a missing one', async () => {
    const stranger = await createAccount(databaseUrl)
    const id = expectCreated(await client.post('campaigns', campaignTo(instanceId, numbers(1))))
    for (const key of [stranger.apiKey, account.apiKey]) {
      const reader = await openSse(new URL('/graphql', gateway.url), {
        headers: { 'x-api-key': key },
        body: { query: subscription, variables: { id: key === stranger.apiKey ? id : '01900000-0000-7000-8000-000000000000' } },
      })
      await until(() => reader.ended)
      expect(reader.text + JSON.stringify(reader.events)).toMatch(/NOT_FOUND/)
    }
  })
})

describe('a campaign of many recipients', () => {
  it('has statistics that are read by an index-only scan, also for all campaigns of a page', async () => {
    const app = await openApp(databaseUrl)
    const ctx = contextFor(app, account)
    const input = campaignTo(instanceId, numbers(5_000, '5555', 20_000), {
      scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
    })
    const { id } = await createCampaign(ctx, input)
    await sql(databaseUrl).query(`update campaigns set status = 'running', "scheduledFor" = null where id = $1`, [id])
    for (let page = 0; page < 5; page++) await advance(app, id, 50)
    // Messages on their way are still updated, and a row that was just updated is not read from an index alone.
    await atRest(databaseUrl)
    await sql(databaseUrl).query('vacuum (analyze) campaign_recipients, messages')
    const { rows } = await sql(databaseUrl).query<{ 'QUERY PLAN': string }>(
      `explain select status, count(*), max("updatedAt") from messages where "campaignId" = '${id}' group by 1`,
    )
    expect(rows.map((row) => row['QUERY PLAN']).join('\n')).toContain('Index Only Scan using messages_campaign_status_idx')
    const query = '{ campaigns(first: 100) { totalCount nodes { id stats { stats { total planned } } } } }'
    const { data } = (await client.graphql(query)).body
    expect(data.campaigns.nodes.length).toBe(data.campaigns.totalCount)
    expect(data.campaigns.nodes[0]).toEqual({ id, stats: { stats: { total: 5_000, planned: expect.any(Number) } } })
  })

  it('finds the next recipients without reading again those that already have a message', async () => {
    const app = await openApp(databaseUrl)
    const ctx = contextFor(app, account)
    const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
    const { id } = await createCampaign(ctx, campaignTo(instanceId, numbers(5_000, '5555', 30_000), { scheduledAt }))
    // Its job is an hour ahead, so the running gateway leaves the campaign alone.
    await sql(databaseUrl).query(`update campaigns set status = 'running', "scheduledFor" = null where id = $1`, [id])
    // The planner statistics date from the start of the campaign, as when sending is faster than autovacuum.
    await sql(databaseUrl).query('analyze campaign_recipients')
    await sql(databaseUrl).query(
      `update campaign_recipients set status = 'failed' where "campaignId" = $1 and position <= 4900`,
      [id],
    )
    const session = await app.pool.connect()
    const release = session.release
    try {
      await session.query('set plan_cache_mode = force_generic_plan')
      session.release = () => {}
      const onSession = { ...app, pool: { connect: async () => session } } as unknown as typeof app
      safetyCache.replace(onSession, safetyCache(app))
      await advance(onSession, id, 50)
      const { rows } = await session.query(`explain (analyze, format json) execute "campaigns.planned"('${id}', 50)`)
      expect(JSON.stringify(rows)).toContain('campaign_recipients')
      expect(JSON.stringify(rows)).not.toMatch(/"Rows Removed by Filter":[1-9]/)
    } finally {
      release.call(session, true)
    }
  })
})
