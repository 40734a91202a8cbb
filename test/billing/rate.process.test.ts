// Admission on two processes: the rate limit of an API key.
import { setTimeout as pause } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '../../src/accounts/keys/api-keys.ts'
import { createTeam } from '../../src/teams/service.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Answer, hastyApi } from '../kit/api.ts'
import { prisma } from '../kit/database.ts'
import { promptly } from '../kit/promptly.ts'
import { codes, openTwo, type Two, tooFast } from './rate-rig.ts'

let databaseUrl: string
let gateways: Two['gateways']
let clients: Two['clients']
let apiUsage: Two['apiUsage']

beforeAll(async () => {
  ;({ databaseUrl, gateways, clients, apiUsage } = await openTwo())
})

interface Timed {
  answer: Answer
  sentAt: number
  answeredAt: number
}

/** Sends 40 requests a second for some seconds, alternating between both processes, regardless of the answers. */
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

/** Repeats with a new account until all requests are answered within one second, however busy this machine is. */
async function inOneSecond<T>(ask: (account: Account) => Promise<T>): Promise<{ account: Account; outcome: T }> {
  const timed = async () => {
    const account = await createAccount(databaseUrl)
    const begun = performance.now()
    return { account, outcome: await ask(account), ms: performance.now() - begun }
  }
  return await promptly(timed, { withinMs: 1_000, exact: true, tookMs: ({ ms }) => ms, patienceMs: 60_000 })
}

describe('the rate limit of a key', () => {
  it('is 10 in any second over all processes, affects that key alone, and does not count refusals', async () => {
    const [busy, calm] = [await createAccount(databaseUrl), await createAccount(databaseUrl)]
    const hammering = hammer(busy.apiKey, 4)
    const beside: Answer[] = []
    for (let i = 0; i < 16; i++) {
      beside.push(await (clients(calm.apiKey)[i % 2] as ReturnType<typeof hastyApi>).get('me'))
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
    // Requests continue to pass in later seconds; how evenly depends on the load of this machine.
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

  it('is shared by REST and GraphQL, and is checked before the request is validated', async () => {
    const { account, outcome: answers } = await inOneSecond(async ({ apiKey }) => {
      const [one, two] = clients(apiKey)
      const asks = [
        () => one.get('me'),
        () => two.graphql('{ me { id } }'),
        () => one.get('messages?limit=0'),
        () => two.post('messages/send', '{'),
      ]
      return await Promise.all(Array.from({ length: 40 }, (_, i) => (asks[i % 4] as () => Promise<Answer>)()))
    })
    expect(answers.filter((answer) => answer.status === 429)).toHaveLength(30)
    const refused = answers
      .filter((answer) => answer.status === 429)
      .map(({ body }) => body.error?.code ?? body.errors[0].extensions.code)
    expect(new Set(refused)).toEqual(new Set(['API_RATE_LIMIT_EXCEEDED']))
    expect(await apiUsage(account)).toBe(10)
  })

  it('is separate for each key of one account', async () => {
    const account = await createAccount(databaseUrl)
    const { key } = await createApiKey(prisma(databaseUrl), { email: account.email, name: 'Second' })
    const both = [account.apiKey, key].map((apiKey) => hastyApi(gateways[0], apiKey))
    const answers = await Promise.all(both.flatMap((client) => Array.from({ length: 10 }, () => client.get('me'))))
    expect(codes(answers)).toEqual({ ok: 20 })
  })

  it('is reported with refusals of a wrong key type, which do not count against it', async () => {
    const stands = async (answer: Promise<Answer>) => {
      const { status, headers } = await answer
      return [status, ...['limit', 'remaining', 'reset'].map((name) => Number(headers.get(`ratelimit-${name}`)))]
    }
    const { account, outcome } = await inOneSecond(async (account) => {
      const team = await createTeam(prisma(databaseUrl), { ownerEmail: account.email, name: 'Team' })
      const [mine] = clients(account.apiKey)
      const [ours] = clients(team.apiKey, { 'x-team-id': team.teamId })
      const wrongDoor = () => mine.get('instances', { 'x-team-id': team.teamId })
      const before = [await stands(wrongDoor()), await stands(ours.get('me'))]
      const mixed = await Promise.all([mine.get('instances'), wrongDoor(), ours.get('instances'), ours.get('me')])
      return { team, before, mixed, wrong: await stands(wrongDoor()) }
    })
    const { team, before, mixed, wrong } = outcome
    expect(before).toEqual(Array(2).fill([403, 10, 10, 1]))
    expect(codes(mixed)).toEqual({ ok: 2, '403 TEAM_KEY_REQUIRED': 1, '403 TEAM_KEY_NOT_ALLOWED': 1 })
    expect(wrong).toEqual([403, 10, 9, 1])
    expect(await apiUsage(account)).toBe(2)
    const { headers } = await hastyApi(gateways[0], team.apiKey, { 'x-team-id': account.userId }).get('instances')
    expect(headers.get('ratelimit-limit'), 'whoever is unknown hears nothing of a key').toBeNull()
  })

  it('has full capacity again after a second', async () => {
    const burst = async ({ apiKey }: Account) => {
      const begun = performance.now()
      const answers = await Promise.all(Array.from({ length: 12 }, () => clients(apiKey)[0].get('me')))
      return { counts: codes(answers), ms: performance.now() - begun }
    }
    const bursts = await promptly(
      async () => {
        const account = await createAccount(databaseUrl)
        const first = await burst(account)
        await pause(1_050)
        return [first, await burst(account)]
      },
      { withinMs: 1_000, exact: true, tookMs: (both) => Math.max(...both.map(({ ms }) => ms)), patienceMs: 60_000 },
    )
    expect(bursts.map(({ counts }) => counts)).toEqual(Array(2).fill({ ok: 10, [tooFast]: 2 }))
  })
})
