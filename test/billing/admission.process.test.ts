// Admission on two processes: the monthly API quota, subscriptions, revocation and team keys.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/accounts/keys/api-keys.ts'
import { createTeam } from '../../src/teams/service.ts'
import { type Account, connectedInstance, createAccount } from '../kit/accounts.ts'
import { hastyApi } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { codes, openTwo, type Two } from './rate-rig.ts'

let databaseUrl: string
let gateways: Two['gateways']
let clients: Two['clients']
let apiUsage: Two['apiUsage']

beforeAll(async () => {
  ;({ databaseUrl, gateways, clients, apiUsage } = await openTwo())
})

async function useApi(account: Account, n: number): Promise<void> {
  await sql(databaseUrl).query(
    `insert into api_usage ("userId", period, "apiRequestsCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)
     on conflict ("userId", period) do update set "apiRequestsCount" = $2`,
    [account.userId, n],
  )
}

const usedUp = '429 MONTHLY_API_REQUEST_QUOTA_EXCEEDED'

describe('the monthly API quota', () => {
  it('admits exactly as many requests as are left, on two processes at once', async () => {
    const account = await createAccount(databaseUrl, { plan: 'free' })
    await useApi(account, 495)
    const [one, two] = clients(account.apiKey)
    const now = new Date()
    const secondsToNextMonth = () => Math.ceil((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - Date.now()) / 1000)
    const atMost = secondsToNextMonth()
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? one : two).get('me')))
    const atLeast = secondsToNextMonth()
    expect(codes(answers)).toEqual({ ok: 5, [usedUp]: 5 })
    expect(await apiUsage(account)).toBe(500)
    const waits = answers.filter(({ status }) => status === 429).map(({ headers }) => Number(headers.get('retry-after')))
    for (const seconds of waits)
      expect(seconds >= atLeast && seconds <= atMost, `${atLeast} <= ${seconds} <= ${atMost}`).toBe(true)
  })

  it('counts every request that passes admission, even an invalid one, and no other', async () => {
    const account = await createAccount(databaseUrl)
    const [one] = clients(account.apiKey)
    const asks = ['me', 'messages?limit=0', 'messages/01900000-0000-7000-8000-000000000000']
    for (const path of asks) await one.get(path)
    await one.post('messages/send', '{')
    await one.graphql('{ nonsense }')
    expect(await apiUsage(account)).toBe(5)
    await one.get('messages', { 'x-team-id': 'x' })
    await one.get('nowhere')
    await one.put('me', {})
    await hastyApi(gateways[0], `${account.apiKey}0`).get('me')
    expect(await apiUsage(account)).toBe(5)
  })
})

describe('a subscription', () => {
  it.each<[string, string, Record<string, unknown>]>([
    ['that is inactive reads and does not send', `status = 'inactive'`, { read: 200, send: 403, plan: 'pro' }],
    ['that is past due sends', `status = 'past_due'`, { read: 200, send: 201, plan: 'pro' }],
    [
      'that was cancelled sends until its period ends',
      `status = 'cancelled', "currentPeriodEnd" = now() + interval '1 hour'`,
      { read: 200, send: 201, plan: 'pro' },
    ],
    [
      'that was cancelled is Free after that',
      `status = 'cancelled', "currentPeriodEnd" = now() - interval '1 hour'`,
      { read: 200, send: 201, plan: 'free' },
    ],
    ['to a plan that is not sold any more is Free', `plan = 'starter'`, { read: 200, send: 201, plan: 'free' }],
  ])('%s', async (_, change, expected) => {
    const account = await createAccount(databaseUrl, { plan: 'pro' })
    const instance = await connectedInstance(databaseUrl, account)
    await sql(databaseUrl).query(`update subscriptions set ${change} where "userId" = $1`, [account.userId])
    const [one, two] = clients(account.apiKey)
    const read = await one.get('me')
    const message = { instanceId: instance.id, to: '+393331234567', type: 'text', text: 'Hello' }
    const send = await two.post('messages/send', message)
    expect({ read: read.status, send: send.status, plan: read.body.data.plan.code }).toEqual(expected)
    if (send.status === 403) expect(send.body.error.code).toBe('SUBSCRIPTION_INACTIVE')
    const document = 'mutation ($input: SendMessageInput!) { sendMessage(input: $input) { id } }'
    const { body } = await two.graphql(document, { input: message })
    expect(body.errors?.[0].extensions.code).toBe(send.status === 403 ? 'SUBSCRIPTION_INACTIVE' : undefined)
  })
})

it("refuses a revoked key at the next request on every process, and still accepts the account's other key", async () => {
  const account = await createAccount(databaseUrl)
  const second = await createApiKey(prisma(databaseUrl), { email: account.email, name: 'Second' })
  const both = clients(second.key)
  expect(codes(await Promise.all(both.map((client) => client.get('me'))))).toEqual({ ok: 2 })
  await revokeApiKey(prisma(databaseUrl), second.id)
  expect(codes(await Promise.all(both.map((client) => client.get('me'))))).toEqual({ '401 UNAUTHORIZED': 2 })
  const document = await both[1].graphql('{ plans { code } }')
  expect([document.status, document.body.errors[0].extensions.code]).toEqual([401, 'UNAUTHORIZED'])
  expect(codes([await clients(account.apiKey)[1].get('me')])).toEqual({ ok: 1 })
})

it("counts a team's requests for its owner and its rate for its key, in a separate workspace", async () => {
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  const team = await createTeam(prisma(databaseUrl), { ownerEmail: account.email, name: 'Team' })
  const [ours] = clients(team.apiKey, { 'x-team-id': team.teamId })
  const [mine] = clients(account.apiKey)
  const answers = await Promise.all([...Array(10)].flatMap(() => [ours.get('instances'), mine.get('instances')]))
  expect(codes(answers)).toEqual({ ok: 20 })
  expect(await apiUsage(account)).toBe(20)
  expect(answers.map((answer) => answer.body.data.length)).toEqual(Array(10).fill([0, 1]).flat())
  await pause(1_050)
  expect((await ours.get(`instances/${instance.id}`)).status).toBe(404)
  const shared = await connectedInstance(databaseUrl, { userId: account.userId, workspaceId: team.workspaceId })
  const send = await ours.post('messages/send', { instanceId: shared.id, to: '+393331234567', type: 'text', text: 'Hello' })
  expect(send.status).toBe(201)
  expect((await mine.get('usage')).body.data.messagesCount).toBe(1)
  expect((await mine.get(`messages/${send.body.data.id}`)).status).toBe(404)
})
