// API keys and the order of checks: which keys are accepted, and what is checked first.
import { beforeAll, describe, expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { expectRefusal, newTenant, nobody, openRig, type Rig, text } from './rig.ts'

let rig: Rig
let team: { teamId: string; apiKey: string }

beforeAll(async () => {
  rig = await openRig()
  team = await createTeam(prisma(rig.databaseUrl), { ownerEmail: rig.tenant.account.email, name: 'Team' })
})

describe('a key', () => {
  const key = () => rig.tenant.account.apiKey
  it.each<[string, () => Record<string, string>]>([
    ['missing', () => ({})],
    ['empty', () => ({ 'x-api-key': '' })],
    ['too short', () => ({ 'x-api-key': key().slice(0, -1) })],
    ['too long', () => ({ 'x-api-key': `${key()}0` })],
    ['in capitals', () => ({ 'x-api-key': key().toUpperCase() })],
    ['of blanks', () => ({ 'x-api-key': 'svc_live_                ' })],
    ['with one figure changed', () => ({ 'x-api-key': key().replace(/.$/, (last) => (last === '0' ? '1' : '0')) })],
    ['as bearer', () => ({ authorization: `Bearer ${key()}` })],
    ["a team's, without the team", () => ({ 'x-api-key': team.apiKey })],
    ["a team's, with another team", () => ({ 'x-api-key': team.apiKey, 'x-team-id': nobody })],
    ["a team's, with no team's id", () => ({ 'x-api-key': team.apiKey, 'x-team-id': 'mine' })],
  ])('%s is refused with the same 401', async (_, headers) => {
    const stranger = api(rig.gateway, undefined, headers())
    expectRefusal(await stranger.get('messages'), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
    expectRefusal(await stranger.get('billing/plans'), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
    expectRefusal(await stranger.get(`messages?x-api-key=${key()}`), 401, 'UNAUTHORIZED', 'Missing or invalid API key')
  })

  it('is asked for by the name of its header, a token by its scheme', async () => {
    const challenge = async (path: string) =>
      (await fetch(`${rig.gateway.url}${path}`, { method: path.startsWith('/graphql') ? 'POST' : 'GET' })).headers.get(
        'www-authenticate',
      )
    expect(await challenge('/api/v1/messages')).toBe('ApiKey header="x-api-key"')
    expect(await challenge('/api/v1/events/stream')).toBe('ApiKey header="x-api-key"')
    expect(await challenge('/api/messages')).toBe('Bearer')
    expect(await challenge('/graphql/stream')).toBe('ApiKey header="x-api-key", Bearer')
  })

  it('is checked before the body is read', async () => {
    for (const body of ['{', 'x'.repeat(2_000_000)]) {
      expectRefusal(await api(rig.gateway).post('messages/send', body), 401, 'UNAUTHORIZED')
    }
  })

  it('of a team is accepted on workspace routes and refused on personal ones', async () => {
    const ours = api(rig.gateway, team.apiKey, { 'x-team-id': team.teamId.toUpperCase() })
    for (const path of ['messages', 'instances', 'webhooks', 'billing/plans'])
      expect([path, (await ours.get(path)).status]).toEqual([path, 200])
    for (const path of ['me', 'usage', 'billing/usage', 'billing/subscription', 'billing/payments']) {
      expectRefusal(await ours.get(path), 403, 'TEAM_KEY_NOT_ALLOWED')
    }
    expectRefusal(await ours.post('statuses', {}), 403, 'STATUSES_NOT_AVAILABLE_ON_PLAN')
  })

  it('of a person is refused on workspace routes of a team before any other check', async () => {
    const headers = { 'x-team-id': team.teamId }
    expectRefusal(await rig.tenant.api.get('messages?limit=0', headers), 403, 'TEAM_KEY_REQUIRED')
    expectRefusal(await rig.tenant.api.post('messages/send', '{', headers), 403, 'TEAM_KEY_REQUIRED')
    expectRefusal(await rig.tenant.api.get('events/stream', headers), 403, 'TEAM_KEY_REQUIRED')
    for (const path of ['me', 'usage', 'billing/usage', 'billing/subscription', 'billing/payments', 'billing/plans']) {
      expect([path, (await rig.tenant.api.get(path, headers)).status]).toEqual([path, 200])
    }
  })
})

it('checks the subscription before the body, the body before the objects it names, and those before the quota', async () => {
  const tenant = await newTenant(rig.gateway, rig.databaseUrl, 'free')
  const pool = sql(rig.databaseUrl)
  const used = `insert into usage ("userId", period, "messagesCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, 500)`
  await pool.query(used, [tenant.account.userId])
  const send = (body: unknown) => tenant.api.post('messages/send', body)
  expectRefusal(await send(text(tenant)), 429, 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED')
  expectRefusal(await send(text(tenant, { instanceId: nobody })), 404, 'NOT_FOUND')
  expectRefusal(await send(text(tenant, { instanceId: nobody, to: '5' })), 400, 'VALIDATION_ERROR')
  await pool.query(`update subscriptions set status = 'inactive' where "userId" = $1`, [tenant.account.userId])
  for (const body of [text(tenant), text(tenant, { to: '5' }), {}, [], '{', 'x'.repeat(2_000_000)]) {
    expectRefusal(await send(body), 403, 'SUBSCRIPTION_INACTIVE')
  }
  for (const path of ['messages/schedule', 'messages/bulk', 'instances', 'templates', 'webhooks', `webhooks/${nobody}/test`]) {
    expectRefusal(await tenant.api.post(path, {}), 403, 'SUBSCRIPTION_INACTIVE')
  }
  for (const path of ['messages', 'instances', 'templates', 'usage', 'me', 'webhooks'])
    expect((await tenant.api.get(path)).status).toBe(200)
})
