// The pace of a campaign against the real gateway: its rate, its quiet hours, and changes of both; on REST and in the graph.
import { beforeAll, describe, expect, it } from 'vitest'
import { connectedInstance, createAccount } from '../kit/accounts.ts'
import type { Api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { openScene, type Scene } from '../kit/scene.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, nobody } from '../rest-compat/rig.ts'
import { bringForward, campaignTo, expectCreated, expectEven, expectOnceEach, numbers, reach, statsOf } from './rig.ts'

let scene: Scene
let client: Api
let used = 0

beforeAll(async () => {
  scene = await openScene({ env: { LOG_LEVEL: 'warn' } })
  client = scene.client()
})

function fresh(count: number): string[] {
  const from = used
  used += count
  return numbers(count, '5555', from)
}

async function create(to: readonly string[], fields: object = {}, instanceId = scene.phone.id): Promise<string> {
  return expectCreated(await client.post('campaigns', campaignTo(instanceId, to, { ...fields })))
}

const record = '{ name status ratePerMinute nextAt quietHours { from to timeZone } }'

async function graphOf(id: string) {
  const { body } = await client.graphql(`query ($id: ID!) { campaign(id: $id) ${record} }`, { id })
  expect(body.errors).toBeUndefined()
  return body.data.campaign as { status: string; ratePerMinute: number | null; nextAt: string | null; quietHours: object | null }
}

/** Quiet hours that began an hour ago and end in an hour. */
function quietNow() {
  const time = (ms: number) => new Date(Date.now() + ms).toISOString().slice(11, 16)
  return { from: time(-3_600_000), to: time(3_600_000), timeZone: 'UTC' }
}

describe('a rate', () => {
  it('spreads the messages evenly, also over a pause', async () => {
    const to = fresh(8)
    const id = await create(to, { ratePerMinute: 120 })
    await until(async () => (await statsOf(client, id)).stats.planned < 6)
    const { nextAt, ratePerMinute } = await graphOf(id)
    expect([ratePerMinute, Date.parse(nextAt as string)]).toEqual([120, expect.any(Number)])
    await client.post(`campaigns/${id}/pause`)
    expect((await graphOf(id)).nextAt).toBeNull()
    await client.post(`campaigns/${id}/resume`)
    await reach(client, id, 'completed')
    await expectOnceEach(scene.databaseUrl, id, to)
    await expectEven(scene.databaseUrl, id, 500)
    expect((await graphOf(id)).nextAt).toBeNull()
  })

  it('is by default that of the safety state, except in the sandbox', async () => {
    const account = await createAccount(scene.databaseUrl)
    const phone = await connectedInstance(scene.databaseUrl, account, { ageDays: 0 })
    // Its settings are missing, so every send is refused; the pace is the same.
    await sql(scene.databaseUrl).query(`update instances set provider = 'cloud' where id = $1`, [phone.id])
    const own = scene.client(0, account)
    const before = Date.now()
    const id = expectCreated(await own.post('campaigns', campaignTo(phone.id, fresh(3))))
    const { nextAt, ratePerMinute } = await until(async () => {
      const { body } = await own.graphql(`query ($id: ID!) { campaign(id: $id) ${record} }`, { id })
      return body.data.campaign.ratePerMinute !== null && body.data.campaign
    })
    expect(ratePerMinute).toBe(5)
    expect(Date.parse(nextAt) - before).toBeGreaterThanOrEqual(12_000)
    expect((await statsOf(own, id)).stats.planned).toBe(2)
    await own.post(`campaigns/${id}/cancel`)
    const unlimited = await create(fresh(3))
    await reach(client, unlimited, 'completed')
    expect((await graphOf(unlimited)).ratePerMinute).toBeNull()
  })

  it('is that of each campaign by itself, also through one instance', async () => {
    const ids = [await create(fresh(2), { ratePerMinute: 1 }), await create(fresh(2), { ratePerMinute: 1 })]
    for (const id of ids) await until(async () => (await statsOf(client, id)).stats.planned === 1)
    for (const id of ids) await client.post(`campaigns/${id}/cancel`)
  })

  it('that is taken away in the sandbox leaves none, so that the rest leaves at once', async () => {
    const to = fresh(3)
    const id = await create(to, { ratePerMinute: 1 })
    await until(async () => (await statsOf(client, id)).stats.planned === 2)
    const answer = await client.graphql(
      `mutation ($id: ID!) { updateCampaign(id: $id, input: { ratePerMinute: null }) ${record} }`,
      {
        id,
      },
    )
    expect(answer.body.data.updateCampaign.ratePerMinute).toBeNull()
    await reach(client, id, 'completed')
    await expectOnceEach(scene.databaseUrl, id, to)
  })

  it('waits while its instance is not connected, and goes on when that connects, however late the next look is', async () => {
    const { databaseUrl, account } = scene
    const away = await connectedInstance(databaseUrl, account, { status: 'disconnected' })
    const to = fresh(3)
    const id = await create(to, { ratePerMinute: 600 }, away.id)
    const waits = 'select from messages where "campaignId" = $1 and "waitingSince" is not null'
    await until(async () => (await sql(databaseUrl).query(waits, [id])).rowCount === 1)
    const inAnHour = `update pgboss.job set start_after = now() + interval '1 hour'
      where name = 'campaign.advance' and data->>'id' = $1 and state = 'created'`
    await until(async () => (await sql(databaseUrl).query(inAnHour, [id])).rowCount === 1)
    expect((await client.post(`instances/${away.id}/connect`)).status).toBe(200)
    await reach(client, id, 'completed')
    await expectOnceEach(databaseUrl, id, to)
  })

  it('that is raised takes effect at once', async () => {
    const id = await create(fresh(3), { ratePerMinute: 1 })
    await until(async () => (await statsOf(client, id)).stats.planned === 2)
    const answer = await client.put(`campaigns/${id}`, { name: 'Faster', ratePerMinute: 6_000 })
    expect(answer.body.data).toMatchObject({ id, name: 'Faster', status: 'running' })
    expect(answer.body.data).not.toHaveProperty('ratePerMinute')
    await reach(client, id, 'completed')
  })
})

describe('quiet hours', () => {
  it('keep a campaign waiting, which stays running, and tell when the next message leaves', async () => {
    const to = fresh(2)
    const quietHours = quietNow()
    const id = await create(to, { quietHours })
    const end = new Date(Math.floor(Date.now() / 60_000) * 60_000 + 3_600_000).getTime()
    const { status, nextAt, quietHours: shown } = await graphOf(id)
    expect([status, shown]).toEqual(['running', quietHours])
    expect(Math.abs(Date.parse(nextAt as string) - end)).toBeLessThanOrEqual(60_000)
    // Its job waits for that moment, and no other one does.
    await until(async () => {
      const { rows } = await sql(scene.databaseUrl).query(
        `select start_after as at from pgboss.job where name = 'campaign.advance' and singleton_key = $1 and state < 'active'`,
        [id],
      )
      return rows.length === 1 && rows[0].at.getTime() === Date.parse(nextAt as string)
    })
    expect((await statsOf(client, id)).stats.planned).toBe(2)
    const { body } = await client.graphql(
      `mutation ($id: ID!) { updateCampaign(id: $id, input: { quietHours: null }) ${record} }`,
      { id },
    )
    expect(body.data.updateCampaign).toMatchObject({ quietHours: null })
    await reach(client, id, 'completed')
    await expectOnceEach(scene.databaseUrl, id, to)
  })

  it.each(['quiet hours delay', 'its first page is suppressed in'])(
    'or not, a campaign that starts tells that it is running: %s a scheduled one',
    async (cause) => {
      const quiet = cause.startsWith('quiet')
      // 50 recipients are a page.
      const to = fresh(quiet ? 2 : 51)
      const id = await create(to, {
        scheduledAt: new Date(Date.now() + 3_600_000).toISOString(),
        ...(quiet ? { quietHours: quietNow() } : { ratePerMinute: 600 }),
      })
      for (const phone of quiet ? [] : to.slice(0, 50)) await client.post('suppressions', { phone })
      await bringForward(scene.databaseUrl, id)
      const told = async () => {
        const { rows } = await sql(scene.databaseUrl).query(
          `select payload->>'status' as status from events where "campaignId" = $1 and type = 'campaign.changed' order by seq`,
          [id],
        )
        return rows.map(({ status }) => status)
      }
      const expected = quiet ? ['scheduled', 'running'] : ['scheduled', 'running', 'completed']
      await until(async () => (await told()).length >= expected.length)
      expect(await told()).toEqual(expected)
    },
  )

  it('that begin take back what waits for its instance', async () => {
    const { databaseUrl, account } = scene
    const away = await connectedInstance(databaseUrl, account, { status: 'disconnected' })
    const id = await create(fresh(3), {}, away.id)
    await until(async () => (await statsOf(client, id)).stats.queued === 3)
    await client.put(`campaigns/${id}`, { quietHours: quietNow() })
    await until(async () => (await statsOf(client, id)).stats.planned === 3)
    expect((await statsOf(client, id)).status).toBe('running')
  })
})

describe('a change of a campaign', () => {
  it.each<[string, object, RegExp]>([
    ['nothing', {}, /^body: must change name, ratePerMinute or quietHours$/],
    ['a rate of 0', { ratePerMinute: 0 }, /^ratePerMinute: must be at least 1$/],
    ['a rate of 6001', { ratePerMinute: 6_001 }, /^ratePerMinute: must be at most 6000$/],
    ['half a message', { ratePerMinute: 1.5 }, /^ratePerMinute: must be a whole number$/],
    ['an empty name', { name: '' }, /^name: must not be empty$/],
    ['hours without a zone', { quietHours: { from: '21:00', to: '08:00' } }, /^quietHours.timeZone: is required$/],
    [
      'no hour',
      { quietHours: { ...quietNow(), from: '25:00' } },
      /^quietHours.from: must be a time as HH:MM, from 00:00 to 23:59$/,
    ],
    ['a wrong zone', { quietHours: { ...quietNow(), timeZone: 'Rome' } }, /^quietHours.timeZone: must be an IANA time zone/],
  ])('is refused with %s', async (_, body, message) => {
    const id = await create(fresh(1), { scheduledAt: new Date(Date.now() + 3_600_000).toISOString() })
    expectRefusal(await client.put(`campaigns/${id}`, body), 400, 'VALIDATION_ERROR', message)
    const query = 'mutation ($id: ID!, $input: UpdateCampaignInput!) { updateCampaign(id: $id, input: $input) { id } }'
    const graph = await client.graphql(query, { id, input: body })
    expect(graph.body.errors?.[0].extensions.code).toBe('VALIDATION_ERROR')
  })

  it('is refused once it has ended, and to another account', async () => {
    const id = await create(fresh(1))
    await reach(client, id, 'completed')
    const reason = 'The campaign is completed; only a campaign that is scheduled, running, or paused can be changed'
    expectRefusal(await client.put(`campaigns/${id}`, { name: 'Late' }), 409, 'INVALID_STATE', reason)
    const stranger = scene.client(0, await createAccount(scene.databaseUrl))
    expectRefusal(await stranger.put(`campaigns/${id}`, { name: 'Mine' }), 404, 'NOT_FOUND', 'Campaign not found')
    expectRefusal(await client.put(`campaigns/${nobody}`, { name: 'Mine' }), 404, 'NOT_FOUND', 'Campaign not found')
  })

  it('of a paused one or a scheduled one takes effect when it goes on', async () => {
    const id = await create(fresh(1), { scheduledAt: new Date(Date.now() + 3_600_000).toISOString(), ratePerMinute: 7 })
    await client.put(`campaigns/${id}`, { ratePerMinute: null, name: 'Later' })
    expect(await graphOf(id)).toMatchObject({ name: 'Later', status: 'scheduled', ratePerMinute: null })
    await client.post(`campaigns/${id}/pause`)
    expect((await client.put(`campaigns/${id}`, { ratePerMinute: 9 })).body.data.status).toBe('paused')
    expect(await graphOf(id)).toMatchObject({ ratePerMinute: 9, nextAt: null })
  })
})
