// Admission on two processes: the rate of a key, the monthly API quota, subscriptions, revocation, keys of teams.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey, revokeApiKey } from '../../src/accounts/service.ts'
import { createTeam } from '../../src/teams/service.ts'
import {
  type Account,
  type Answer,
  api,
  cloneDatabase,
  connectedInstance,
  createAccount,
  type Gateway,
  sql,
  startGateway,
} from '../kit/kit.ts'

let databaseUrl: string
let gateways: [Gateway, Gateway]

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const start = () => startGateway({ databaseUrl })
  gateways = await Promise.all([start(), start()])
})

/** The same client on both processes. */
function clients(apiKey: string, headers: Record<string, string> = {}) {
  return gateways.map((gateway) => api(gateway, apiKey, headers)) as [ReturnType<typeof api>, ReturnType<typeof api>]
}

async function apiUsage(account: Account): Promise<number> {
  const { rows } = await sql(databaseUrl).query(
    'select coalesce(sum("apiRequestsCount"), 0)::int as n from api_usage where "userId" = $1',
    [account.userId],
  )
  return rows[0]?.n as number
}

async function useApi(account: Account, n: number): Promise<void> {
  await sql(databaseUrl).query(
    `insert into api_usage ("userId", period, "apiRequestsCount") values ($1, date_trunc('month', now() at time zone 'utc')::date, $2)
     on conflict ("userId", period) do update set "apiRequestsCount" = $2`,
    [account.userId, n],
  )
}

function codes(answers: readonly Answer[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, body } of answers) {
    const name = status < 300 ? 'ok' : `${status} ${body.error.code}`
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

const tooFast = '429 API_RATE_LIMIT_EXCEEDED'
const usedUp = '429 MONTHLY_API_REQUEST_QUOTA_EXCEEDED'

interface Timed {
  answer: Answer
  sentAt: number
  answeredAt: number
}

/** 40 requests a second for a while, in turns to both processes, whatever is answered. */
async function hammer(apiKey: string, seconds: number): Promise<Timed[]> {
  const both = clients(apiKey)
  const begun = performance.now()
  return await Promise.all(
    Array.from({ length: 40 * seconds }, async (_, i): Promise<Timed> => {
      await pause(Math.max(0, begun + 25 * i - performance.now()))
      const sentAt = performance.now()
      const answer = await (both[i % 2] as (typeof both)[0]).get('instances')
      return { answer, sentAt, answeredAt: performance.now() }
    }),
  )
}

describe('the rate of a key', () => {
  it('is at most 10 in any second over all processes, at the cost of that key alone, and refusals do not count', async () => {
    const [busy, calm] = [await createAccount(databaseUrl), await createAccount(databaseUrl)]
    const hammering = hammer(busy.apiKey, 4)
    const beside: Answer[] = []
    for (let i = 0; i < 16; i++) {
      beside.push(await (clients(calm.apiKey)[i % 2] as ReturnType<typeof api>).get('me'))
      await pause(240)
    }
    const all = await hammering
    expect(codes(beside)).toEqual({ ok: 16 })
    const passed = all.filter(({ answer }) => answer.status === 200).sort((a, b) => a.answeredAt - b.answeredAt)
    // Each was admitted between its sending and its answer: eleven of them within less than a second would be one too many.
    for (let i = 10; i < passed.length; i++) {
      const eleven = passed.slice(i - 10, i + 1)
      const span = Math.max(...eleven.map((one) => one.answeredAt)) - Math.min(...eleven.map((one) => one.sentAt))
      expect(span).toBeGreaterThan(1_000)
    }
    // It goes on from second to second; how evenly depends on who else keeps this machine busy.
    expect(passed.length).toBeGreaterThan(10)
    expect(codes(all.map(({ answer }) => answer))).toEqual({ ok: passed.length, [tooFast]: 160 - passed.length })
    expect(await apiUsage(busy)).toBe(passed.length)
    for (const { answer } of all) {
      expect(answer.headers.get('ratelimit-limit')).toBe('10')
      const left = Number(answer.headers.get('ratelimit-remaining'))
      expect(left >= 0 && left < 10).toBe(true)
      expect(answer.headers.get('retry-after')).toBe(answer.status === 429 ? '1' : null)
      if (answer.status === 429) expect(left).toBe(0)
    }
  })

  // A burst has to fit into one second, which takes a second try where others keep this machine too busy.
  it('is one for REST and GraphQL, counted before anything else is looked at', { retry: 2 }, async () => {
    const account = await createAccount(databaseUrl)
    const [one, two] = clients(account.apiKey)
    const asks = [
      () => one.get('me'),
      () => two.graphql('{ me { id } }'),
      () => one.get('messages?limit=0'),
      () => two.post('messages/send', '{'),
    ]
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => (asks[i % 4] as () => Promise<Answer>)()))
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30)
    const refused = answers
      .filter((answer) => answer.status === 429)
      .map(({ body }) => body.error?.code ?? body.errors[0].extensions.code)
    expect(new Set(refused)).toEqual(new Set(['API_RATE_LIMIT_EXCEEDED']))
    expect(await apiUsage(account)).toBe(10)
  })

  it("is each key's own, though they are of one account", async () => {
    const account = await createAccount(databaseUrl)
    const { key } = await createApiKey(sql(databaseUrl), { email: account.email, name: 'Second' })
    const both = [account.apiKey, key].map((apiKey) => api(gateways[0], apiKey))
    const answers = await Promise.all(both.flatMap((client) => Array.from({ length: 10 }, () => client.get('me'))))
    expect(codes(answers)).toEqual({ ok: 20 })
  })

  it('is told with what the key may not reach, which takes nothing of it', async () => {
    const account = await createAccount(databaseUrl)
    const team = await createTeam(sql(databaseUrl), { ownerEmail: account.email, name: 'Team' })
    const [mine] = clients(account.apiKey)
    const [ours] = clients(team.apiKey, { 'x-team-id': team.teamId })
    const stands = async (answer: Promise<Answer>) => {
      const { status, headers } = await answer
      return [status, ...['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)))]
    }
    expect(await stands(mine.get('instances', { 'x-team-id': team.teamId }))).toEqual([403, 10, 10, 1])
    expect(await stands(ours.get('me'))).toEqual([403, 10, 10, 1])
    const doors = [
      mine.get('instances'),
      mine.get('instances', { 'x-team-id': team.teamId }),
      ours.get('instances'),
      ours.get('me'),
    ]
    const [mixed, wrong] = [await Promise.all(doors), await stands(mine.get('instances', { 'x-team-id': team.teamId }))]
    expect(codes(mixed)).toEqual({ ok: 2, '403 TEAM_KEY_REQUIRED': 1, '403 TEAM_KEY_NOT_ALLOWED': 1 })
    expect(wrong).toEqual([403, 10, 9, 1])
    expect(await apiUsage(account)).toBe(2)
    const { headers } = await api(gateways[0], team.apiKey, { 'x-team-id': account.userId }).get('instances')
    expect(headers.get('ratelimit-limit'), 'whoever is unknown hears nothing of a key').toBeNull()
  })

  it('is whole again after a second', { retry: 2 }, async () => {
    const account = await createAccount(databaseUrl)
    const [one] = clients(account.apiKey)
    const burst = () => Promise.all(Array.from({ length: 12 }, () => one.get('me')))
    expect(codes(await burst())).toEqual({ ok: 10, [tooFast]: 2 })
    await pause(1_050)
    expect(codes(await burst())).toEqual({ ok: 10, [tooFast]: 2 })
  })
})

describe('the monthly API quota', () => {
  it('lets exactly as many through as are left, on two processes at once', async () => {
    const account = await createAccount(databaseUrl, { plan: 'free' })
    await useApi(account, 495)
    const [one, two] = clients(account.apiKey)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => (i % 2 ? one : two).get('me')))
    expect(codes(answers)).toEqual({ ok: 5, [usedUp]: 5 })
    expect(await apiUsage(account)).toBe(500)
    const refused = answers.find((answer) => answer.status === 429)
    const now = new Date()
    const untilNextMonth = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime()) / 1000
    expect(Math.abs(Number(refused?.headers.get('retry-after')) - untilNextMonth)).toBeLessThan(5)
  })

  it('counts whatever gets past the rate, and nothing of what does not', async () => {
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
    await api(gateways[0], `${account.apiKey}0`).get('me')
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

it('refuses a revoked key at the next request on every process, and lets the others be', async () => {
  const account = await createAccount(databaseUrl)
  const second = await createApiKey(sql(databaseUrl), { email: account.email, name: 'Second' })
  const both = clients(second.key)
  expect(codes(await Promise.all(both.map((client) => client.get('me'))))).toEqual({ ok: 2 })
  await revokeApiKey(sql(databaseUrl), second.id)
  expect(codes(await Promise.all(both.map((client) => client.get('me'))))).toEqual({ '401 UNAUTHORIZED': 2 })
  const document = await both[1].graphql('{ plans { code } }')
  expect([document.status, document.body.errors[0].extensions.code]).toEqual([401, 'UNAUTHORIZED'])
  expect(codes([await clients(account.apiKey)[1].get('me')])).toEqual({ ok: 1 })
})

it("counts a team's requests on its owner and its rate on its key, in a workspace of its own", async () => {
  const account = await createAccount(databaseUrl)
  const instance = await connectedInstance(databaseUrl, account)
  const team = await createTeam(sql(databaseUrl), { ownerEmail: account.email, name: 'Team' })
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
