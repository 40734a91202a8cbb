// The preview of a campaign: it tells what creating it would do, refuses what creating it refuses, and stores nothing.
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { newId } from '../../src/core/id.ts'
import { connectedInstance } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { newTenant, openRig, type Rig } from '../rest-compat/rig.ts'
import { newCrew, openRig as openTeamRig } from '../teams/rig.ts'
import { campaignTo, expectCreated, numbers } from './rig.ts'

const document = `query ($input: CreateCampaignInput!) { previewCampaign(input: $input) {
  recipientsCount sendableCount repeatedCount isWithinQuota ratePerMinute firstAt lastAt warnings
  invalid { ...outs } suppressed { ...outs } missing { ...outs }
  safety { decision riskLevel state score } quota { limit left leftAfter missing } } }
fragment outs on LeftOutRecipients { count first { to index reason } }`

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

async function preview(fields: Record<string, unknown>, client: Api = rig.tenant.api) {
  const input = { instanceId: rig.tenant.instance.id, name: 'News', type: 'text', text: 'hello', ...fields }
  const { body } = await client.graphql(document, { input })
  expect(body.errors).toBeUndefined()
  return body.data.previewCampaign
}

async function refusal(fields: Record<string, unknown>, client: Api = rig.tenant.api): Promise<string> {
  const input = { instanceId: rig.tenant.instance.id, name: 'News', type: 'text', text: 'hello', ...fields }
  const { body } = await client.graphql(document, { input })
  return `${body.errors?.[0].extensions.code} ${body.errors?.[0].message}`
}

describe('the preview of a campaign', () => {
  it('counts whom it reaches and names those whom it does not, with their index', async () => {
    const { api } = rig.tenant
    const [suppressed = '', ...to] = numbers(5, '5555', 70_000)
    await api.post('suppressions', { phone: suppressed })
    const template = (await api.post('templates', { name: newId(), type: 'text', body: 'Code {{custom.code}}' })).body.data
    const variables = { code: 'x' }
    const recipients = [
      { to: to[0], variables },
      { to: '12' },
      { to: suppressed, variables },
      { to: to[1] },
      { to: to[0], variables },
      { to: to[2], variables },
      {},
    ]
    const told = await preview({ type: undefined, text: undefined, templateId: template.id, recipients })
    expect(told).toMatchObject({ recipientsCount: 4, sendableCount: 2, repeatedCount: 1, isWithinQuota: true })
    expect(told.invalid).toEqual({
      count: 2,
      first: [
        { to: null, index: 1, reason: 'recipients.1.to: must be an E.164 number, for example +393331234567' },
        { to: null, index: 6, reason: 'recipients.6.to: is required' },
      ],
    })
    expect(told.suppressed).toEqual({ count: 1, first: [{ to: suppressed, index: 2, reason: 'RECIPIENT_SUPPRESSED' }] })
    expect(told.missing).toEqual({ count: 1, first: [{ to: to[1], index: 3, reason: 'custom.code: has no value' }] })
  })

  it('is refused when no recipient is valid, with the first hundred faults', async () => {
    const recipients = Array(101).fill({ to: 'x' })
    expect(await refusal({ recipients: recipients.slice(1) })).toMatch(/recipients\.99\.to: [^;]*$/)
    expect(await refusal({ recipients })).toMatch(/recipients\.99\.to: [^;]*; and more$/)
  })

  it('agrees with the campaign that is then created, and stores nothing itself', async () => {
    const { api, account } = await newTenant(rig.gateway, rig.databaseUrl)
    const own = { ...rig.tenant, api, instance: await connectedInstance(rig.databaseUrl, account) }
    const rows = async () =>
      (
        await sql(rig.databaseUrl).query(
          `select (select count(*) from campaigns where "workspaceId" = $1)::int as campaigns, (select count(*) from messages where "workspaceId" = $1)::int as messages,
            (select count(*) from events where "workspaceId" = $1)::int as events, (select coalesce(sum("plannedCount"), 0) from usage where "userId" = $2)::int as planned`,
          [account.workspaceId, account.userId],
        )
      ).rows[0]
    const input = campaignTo(own.instance.id, numbers(3, '5555', 71_000))
    const before = await rows()
    const told = await preview({ ...input, idempotencyKey: 'one' }, api)
    await preview({ ...input, idempotencyKey: 'one', name: 'Another' }, api)
    expect(await rows()).toEqual(before)
    const { quota } = told
    expect(quota.leftAfter).toBe(quota.left - 3)
    const id = expectCreated(await api.post('campaigns', { ...input, idempotencyKey: 'one' }))
    expect((await api.get(`campaigns/${id}`)).body.data.recipientsCount).toBe(told.recipientsCount)
  })

  it.each([
    ['no recipient', { recipients: [] }],
    ['only invalid recipients', { recipients: [{ to: '12' }, {}] }],
    ['a rate that is none', { recipients: [{ to: '+393331234567' }], ratePerMinute: 0 }],
    ['no name', { recipients: [{ to: '+393331234567' }], name: '' }],
    [
      'a template that does not exist',
      { type: undefined, text: undefined, templateId: newId(), recipients: [{ to: '+393331234567' }] },
    ],
    ['a contact that does not exist', { contactIds: [newId()] }],
    ['a group that does not exist', { groupIds: [newId()] }],
    ['an instance that does not exist', { instanceId: newId(), recipients: [{ to: '+393331234567' }] }],
  ])('refuses %s in the words of the creation', async (_, fields) => {
    const { api, instance } = rig.tenant
    const input = { instanceId: instance.id, name: 'News', type: 'text', text: 'hello', ...fields }
    const { error } = (await api.post('campaigns', input)).body
    expect(await refusal(fields)).toBe(`${error.code} ${error.message}`)
  })

  it('refuses when no message could be sent, as the creation does', async () => {
    const [suppressed] = numbers(1, '5555', 72_000)
    await rig.tenant.api.post('suppressions', { phone: suppressed })
    expect(await refusal({ recipients: [{ to: suppressed }] })).toBe(
      'VALIDATION_ERROR recipients: every number is in the do-not-contact list',
    )
  })

  it('tells the first and the last departure by the rate and the quiet hours', async () => {
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const recipients = numbers(61, '5555', 73_000).map((to) => ({ to }))
    expect(await preview({ recipients, scheduledAt, ratePerMinute: 60 })).toMatchObject({
      ratePerMinute: 60,
      firstAt: scheduledAt,
      lastAt: new Date(Date.parse(scheduledAt) + 60_000).toISOString(),
    })
    const { api, instance } = rig.tenant
    const fields = { recipients, scheduledAt, ratePerMinute: 60 }
    const id = expectCreated(await api.post('campaigns', campaignTo(instance.id, [], fields)))
    const { body } = await api.graphql('query ($id: ID!) { campaign(id: $id) { nextAt lastAt } }', { id })
    expect(body.data.campaign).toEqual({
      nextAt: scheduledAt,
      lastAt: new Date(Date.parse(scheduledAt) + 60_000).toISOString(),
    })
    const hour = (ms: number) => new Date(Date.parse(scheduledAt) + ms).toISOString().slice(11, 16)
    const quietHours = { from: hour(-3_600_000), to: hour(3_600_000), timeZone: 'UTC' }
    const { firstAt } = await preview({ recipients, scheduledAt, ratePerMinute: 60, quietHours })
    expect(firstAt.slice(11, 16)).toBe(quietHours.to)
    expect(await preview({ recipients })).toMatchObject({ ratePerMinute: null, lastAt: null })
  })

  it('warns of the limits that its first day would exceed', async () => {
    const few = numbers(2, '5555', 74_000).map((to) => ({ to }))
    expect(await preview({ recipients: few })).toMatchObject({ safety: { state: 'stable' } })
    const many = numbers(1_500, '5555', 75_000).map((to) => ({ to }))
    const { warnings, safety } = await preview({ recipients: many })
    expect(warnings).toEqual(expect.arrayContaining([expect.stringMatching(/^maxCampaignRecipients exceeded: 1500 of /)]))
    expect(warnings.some((one: string) => one.startsWith('hourlyOutboundCap exceeded: 15'))).toBe(true)
    expect(safety.decision).toBe('warn')
    // A preview counts for no other one.
    expect((await preview({ recipients: few })).warnings.some((one: string) => one.startsWith('hourly'))).toBe(false)
  })

  it('says how many the quota is too small for, and refuses none of them', async () => {
    const tenant = await newTenant(rig.gateway, rig.databaseUrl, 'free')
    const { limit } = (await preview({ instanceId: tenant.instance.id, recipients: [{ to: '+393331234567' }] }, tenant.api)).quota
    const recipients = numbers(limit + 7, '5555', 0).map((to) => ({ to }))
    expect(await preview({ instanceId: tenant.instance.id, recipients }, tenant.api)).toMatchObject({
      isWithinQuota: false,
      quota: { limit, left: limit, leftAfter: 0, missing: 7 },
    })
  })
})

describe('the preview is', () => {
  const recipients = [{ to: '+393331234567' }]

  it('for keys that read, not for those that only send, and for nobody without a key', async () => {
    const { account } = rig.tenant
    const withKey = async (access: 'send' | 'read') => {
      const { key } = await createApiKey(prisma(rig.databaseUrl), { email: account.email, name: access, access })
      return api(rig.gateway, key)
    }
    expect((await preview({ recipients }, await withKey('read'))).recipientsCount).toBe(1)
    expect(await refusal({ recipients }, await withKey('send'))).toMatch(/^FORBIDDEN /)
    expect(await refusal({ recipients }, api(rig.gateway))).toMatch(/^UNAUTHORIZED /)
  })

  it('of the own workspace: instances and contacts of another one are not found', async () => {
    const { instance, api } = rig.stranger
    expect(await refusal({ recipients, instanceId: instance.id })).toBe('NOT_FOUND Instance not found')
    const theirs = (await api.post('contacts', { name: 'Ada', phone: '+393331234567' })).body.data
    expect(await refusal({ contactIds: [theirs.id] })).toBe('NOT_FOUND Contact not found')
  })

  it('for every member of a team; only those who may see the usage are told the quota', async () => {
    const crew = await newCrew(openTeamRig())
    const { id: instanceId } = await connectedInstance(rig.databaseUrl, { ...crew.owner, workspaceId: crew.workspaceId })
    const askAs = async (role: 'owner' | 'admin' | 'collaborator' | 'outsider') =>
      (await crew[role].inTeam(crew.teamId).graphql(document, { input: campaignTo(instanceId, ['+393331234567']) })).body
    for (const role of ['owner', 'admin'] as const) {
      expect((await askAs(role)).data.previewCampaign.quota).toMatchObject({ missing: 0 })
    }
    expect((await askAs('collaborator')).data.previewCampaign).toMatchObject({ quota: null, isWithinQuota: true })
    expect((await askAs('outsider')).errors[0].extensions.code).toBe('TEAM_NOT_FOUND')
  })
})
