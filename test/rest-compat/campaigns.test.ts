// REST routes of campaigns: their records. See campaigns-refused.test.ts for refusals and test/campaigns for sending.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { newId } from '../../src/core/id.ts'
import { createTeam } from '../../src/teams/service.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { until } from '../kit/until.ts'
import { campaign, expectRefusal, moment, newTenant, openRig, type Rig, type Tenant, uuid } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

function record(tenant: Tenant, fields: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: uuid,
    userId: tenant.account.userId,
    instanceId: tenant.instance.id,
    name: 'News',
    type: 'text',
    templateId: null,
    status: 'scheduled',
    recipientsCount: 1,
    scheduledFor: moment,
    createdAt: moment,
    updatedAt: moment,
    ...fields,
  }
}

const none = { total: 0, planned: 0, queued: 0, sent: 0, delivered: 0, read: 0, failed: 0, cancelled: 0 }

async function create(tenant: Tenant, fields: Record<string, unknown> = {}): Promise<string> {
  const answer = await tenant.api.post('campaigns', campaign(tenant, fields))
  expect([answer.status, answer.body]).toEqual([201, { data: expect.anything() }])
  return answer.body.data.id
}

describe('a campaign', () => {
  it('is created, read, paused, resumed and cancelled', async () => {
    const { tenant } = rig
    const body = campaign(tenant, { nonsense: 1 })
    const created = await tenant.api.post('campaigns', body)
    const scheduledFor = body.scheduledAt
    expect({ status: created.status, body: created.body }).toStrictEqual({
      status: 201,
      body: { data: record(tenant, { scheduledFor }) },
    })
    const { id } = created.body.data
    expect((await tenant.api.get(`campaigns/${id}`)).body).toStrictEqual(created.body)
    for (const [action, status] of [
      ['pause', 'paused'],
      ['resume', 'scheduled'],
      ['cancel', 'cancelled'],
    ]) {
      const answer = await tenant.api.post(`campaigns/${id}/${action}`)
      expect({ status: answer.status, body: answer.body }).toStrictEqual({
        status: 200,
        body: { data: record(tenant, { id, status, scheduledFor }) },
      })
    }
    expectRefusal(
      await tenant.api.post(`campaigns/${id}/pause`),
      409,
      'INVALID_STATE',
      'The campaign is cancelled; only a campaign that is scheduled or running can be paused',
    )
  })

  it('starts at once when scheduledAt is null', async () => {
    const { tenant } = rig
    const answer = await tenant.api.post('campaigns', campaign(tenant, { scheduledAt: null }))
    expect(answer.body).toStrictEqual({ data: record(tenant, { status: 'running', scheduledFor: null }) })
    expectRefusal(await tenant.api.post(`campaigns/${answer.body.data.id}/resume`), 409, 'INVALID_STATE', /^The campaign is /)
  })

  it('reports its statistics, also after a cancellation', async () => {
    const { tenant } = rig
    const body = campaign(tenant, { recipients: [{ to: '+4915112345' }, { to: '+4915112346' }, { to: '+4915112345' }] })
    const id = (await tenant.api.post('campaigns', body)).body.data.id
    const timeline = {
      scheduledFor: body.scheduledAt,
      processingStartedAt: null,
      lastEnqueuedAt: null,
      completedAt: null,
      cancelledAt: null,
      lastActivityAt: moment,
    }
    const stats = { ...none, total: 2, planned: 2 }
    const answer = await tenant.api.get(`campaigns/${id}/stats`)
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 200,
      body: { data: { campaignId: id, status: 'scheduled', stats, progressPercent: 0, timeline } },
    })
    const cancelled = await tenant.api.post(`campaigns/${id}/cancel`)
    const at = cancelled.body.data.updatedAt
    expect((await tenant.api.get(`campaigns/${id}/stats`)).body.data).toStrictEqual({
      campaignId: id,
      status: 'cancelled',
      stats: { ...none, total: 2, cancelled: 2 },
      progressPercent: 100,
      timeline: { ...timeline, cancelledAt: at, lastActivityAt: at },
    })
  })

  it('renders a template for the members of a group, and is refused when a variable has no value', async () => {
    const { tenant } = rig
    const contact = (await tenant.api.post('contacts', { name: 'Ada Lovelace', phone: '+393331112255' })).body.data
    const group = (await tenant.api.post('contacts/groups', { name: 'Friends' })).body.data
    await tenant.api.post(`contacts/groups/${group.id}/members`, { contactIds: [contact.id] })
    const template = { name: 'Greeting', type: 'text', body: 'Hi {{contact.firstName}}, {{custom.order}}' }
    const templateId = (await tenant.api.post('templates', template)).body.data.id
    const body = campaign(tenant, {
      type: undefined,
      text: undefined,
      recipients: undefined,
      scheduledAt: undefined,
      templateId,
      groupIds: [group.id],
      variables: { order: '5' },
    })
    const answer = await tenant.api.post('campaigns', body)
    expect(answer.body).toStrictEqual({ data: record(tenant, { templateId, status: 'running', scheduledFor: null }) })
    const { rows } = await sql(rig.databaseUrl).query('select body from campaign_recipients where "campaignId" = $1', [
      answer.body.data.id,
    ])
    expect(rows).toEqual([{ body: 'Hi Ada, 5' }])
    expectRefusal(
      await tenant.api.post('campaigns', { ...body, variables: {} }),
      400,
      'TEMPLATE_INVALID',
      /custom\.order: has no value/,
    )
  })

  it('accepts a body of up to 16 MiB and refuses a larger one', async () => {
    const { tenant } = rig
    const wide = { a: 'x'.repeat(1024), b: 'x'.repeat(1024), c: 'x'.repeat(1024) }
    const recipients = Array.from({ length: 5_000 }, (_, i) => ({ to: `+39333${100_000 + i}55`, variables: wide }))
    const id = await create(tenant, { recipients })
    expect((await tenant.api.get(`campaigns/${id}`)).body.data.recipientsCount).toBe(5_000)
    const tooMuch = JSON.stringify({ ...campaign(tenant), padding: 'x'.repeat(16 * 1024 * 1024) })
    expectRefusal(await tenant.api.post('campaigns', tooMuch), 413, 'PAYLOAD_TOO_LARGE')
  })

  it('is created once under one Idempotency-Key, however often the request is repeated', async () => {
    const { tenant } = rig
    const key = { 'idempotency-key': randomUUID() }
    const body = campaign(tenant)
    const answers = await Promise.all([1, 2, 3].map(() => tenant.api.post('campaigns', body, key)))
    const again = await tenant.api.post('campaigns', body, key)
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    for (const answer of answers.filter(({ status }) => status === 201)) expect(answer.body).toEqual(again.body)
    const of =
      'select from campaign_recipients r join campaigns c on c.id = r."campaignId" where r."to" = $1 and c."workspaceId" = $2'
    const recipient = (body.recipients as { to: string }[])[0]?.to
    expect((await sql(rig.databaseUrl).query(of, [recipient, tenant.account.workspaceId])).rowCount).toBe(1)
    expectRefusal(await tenant.api.post('campaigns', campaign(tenant), key), 422, 'IDEMPOTENCY_KEY_REUSED')
    const pauseKey = { 'idempotency-key': randomUUID() }
    const first = await tenant.api.post(`campaigns/${again.body.data.id}/pause`, undefined, pauseKey)
    const second = await tenant.api.post(`campaigns/${again.body.data.id}/pause`, undefined, pauseKey)
    expect([first.status, second.status, second.headers.get('idempotency-replayed')]).toEqual([200, 200, 'true'])
    expect(second.body).toEqual(first.body)
  })

  it('needs an active subscription to be created or resumed, but not to be read, paused or cancelled', async () => {
    const idle = await newTenant(rig.gateway, rig.databaseUrl)
    const [paused, other] = [await create(idle), await create(idle)]
    await idle.api.post(`campaigns/${paused}/pause`)
    await sql(rig.databaseUrl).query(`update subscriptions set status = 'inactive' where "userId" = $1`, [idle.account.userId])
    expectRefusal(await idle.api.post('campaigns', campaign(idle)), 403, 'SUBSCRIPTION_INACTIVE')
    expectRefusal(await idle.api.post(`campaigns/${paused}/resume`), 403, 'SUBSCRIPTION_INACTIVE')
    expect((await idle.api.get(`campaigns/${paused}/stats`)).status).toBe(200)
    expect((await idle.api.post(`campaigns/${other}/pause`)).status).toBe(200)
    expect((await idle.api.post(`campaigns/${paused}/cancel`)).status).toBe(200)
  })
})

describe('a team key', () => {
  it('accesses the campaigns of its team and no others', async () => {
    const { tenant } = rig
    const { teamId, workspaceId, apiKey } = await createTeam(prisma(rig.databaseUrl), {
      ownerEmail: tenant.account.email,
      name: 'Team',
    })
    const instance = newId()
    await sql(rig.databaseUrl).query(
      `insert into instances (id, "workspaceId", "userId", name, provider, status, "waNumber", disconnections)
       values ($1, $2, $3, 'Team', 'sandbox', 'connected', '+393330000000', '{}')`,
      [instance, workspaceId, tenant.account.userId],
    )
    const team = api(rig.gateway, apiKey, { 'x-team-id': teamId })
    const answer = await team.post('campaigns', campaign(tenant, { instanceId: instance }))
    expect([answer.status, answer.body.data.instanceId]).toEqual([201, instance])
    expectRefusal(await tenant.api.get(`campaigns/${answer.body.data.id}`), 404, 'NOT_FOUND', 'Campaign not found')
    expectRefusal(await team.get(`campaigns/${await create(tenant)}`), 404, 'NOT_FOUND', 'Campaign not found')
    expect((await team.get('campaigns')).body.data.campaigns).toStrictEqual([answer.body.data])
  })
})

describe('the list of campaigns', () => {
  it('is paged, newest first, with cursors that belong to one workspace', async () => {
    const own = await newTenant(rig.gateway, rig.databaseUrl)
    expect((await own.api.get('campaigns')).body).toStrictEqual({ data: { campaigns: [], nextCursor: null, hasMore: false } })
    const ids: string[] = []
    for (let i = 0; i < 5; i++) ids.unshift(await create(own))
    const first = (await own.api.get('campaigns?limit=2')).body.data
    expect([first.campaigns.map(({ id }: { id: string }) => id), first.hasMore]).toEqual([ids.slice(0, 2), true])
    expect(first.campaigns[0]).toStrictEqual(record(own))
    await create(own)
    const next = (await own.api.get(`campaigns?limit=3&cursor=${first.nextCursor}`)).body.data
    expect(next.campaigns.map(({ id }: { id: string }) => id)).toEqual(ids.slice(2))
    expect([next.hasMore, next.nextCursor]).toEqual([false, null])
    expectRefusal(await own.api.get('campaigns?limit=0'), 400, 'VALIDATION_ERROR', /^limit: /)
    expectRefusal(await own.api.get('campaigns?cursor=x'), 400, 'VALIDATION_ERROR', 'cursor: is not a cursor')
    expectRefusal(await rig.tenant.api.get(`campaigns?cursor=${first.nextCursor}`), 400, 'VALIDATION_ERROR', /^cursor: /)
  })
})

describe('the GraphQL campaign', () => {
  it('has its messages and its instance, and each message has its campaign', async () => {
    const { tenant } = rig
    const recipients = [{ to: '+393331230155' }, { to: '+393331230255' }]
    const id = await create(tenant, { recipients, scheduledAt: undefined })
    const query = `query ($id: ID!) { campaign(id: $id) { status error stats { stats { total planned queued } } instance { id } messages(first: 5) {
      totalCount nodes { to campaign { id name } } } } }`
    const answer = await until(async () => {
      const read = await tenant.api.graphql(query, { id })
      return read.body.data.campaign.messages.totalCount === 2 && read
    })
    expect(answer.body.data.campaign).toMatchObject({ error: null, instance: { id: tenant.instance.id } })
    const { nodes } = answer.body.data.campaign.messages
    expect(nodes.map((node: { to: string }) => node.to).sort()).toEqual(recipients.map(({ to }) => to))
    for (const node of nodes) expect(node.campaign).toEqual({ id, name: 'News' })
  })
})
