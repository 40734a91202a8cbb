// Proves that guessing API keys gains nothing: an almost correct key gets the same answer in the same time as any other wrong
// key.

import { randomBytes } from 'node:crypto'
import { Pool } from 'undici'
import { beforeAll, describe, expect, it } from 'vitest'
import { admitKeys } from '../../src/billing/admission/admit.ts'
import { createTeam } from '../../src/teams/service.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { welch } from '../kit/welch.ts'
import { openApp } from '../messages/rig.ts'
import { expectRefusal, openProcessRig, type Rig } from '../rest-compat/rig.ts'
import { send } from './wire.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openProcessRig()
})

const prefix = 'svc_live_'

/** The 960 keys that differ from this one in exactly one hex digit. */
function neighboursOf(key: string): string[] {
  const figures = [...key.slice(prefix.length)]
  return figures.flatMap((right, at) =>
    [...'0123456789abcdef'].filter((figure) => figure !== right).map((figure) => prefix + figures.with(at, figure).join('')),
  )
}

describe('an API key', () => {
  it('with one digit changed is refused 10,000 times with the same answer, and no account is charged for a request', async () => {
    const accounts = await Promise.all(Array.from({ length: 11 }, () => createAccount(rig.databaseUrl)))
    const guesses = accounts.flatMap(({ apiKey }) => neighboursOf(apiKey)).slice(0, 10_000)
    expect(new Set(guesses).size).toBe(10_000)
    const answers = new Map<string, number>()
    const pool = new Pool(rig.gateway.url, { connections: 50 })
    await Promise.all(
      guesses.map(async (guess) => {
        const { statusCode, body } = await pool.request({ method: 'GET', path: '/api/v1/me', headers: { 'x-api-key': guess } })
        const answer = `${statusCode} ${await body.text()}`
        answers.set(answer, (answers.get(answer) ?? 0) + 1)
      }),
    )
    await pool.close()
    const refusal = '401 {"error":{"code":"UNAUTHORIZED","message":"Missing or invalid API key"}}'
    expect([...answers]).toEqual([[refusal, 10_000]])
    expect(await requestsOf(accounts)).toBe(0)
    for (const { apiKey } of accounts) expect((await api(rig.gateway, apiKey).get('me')).status).toBe(200)
    expect(await requestsOf(accounts)).toBe(11)
  })

  it('with a malformed value is refused without a database lookup', async () => {
    const key = rig.tenant.account.apiKey
    const looks = async () =>
      (await (await fetch(`${rig.gateway.url}/metrics`)).text()).match(/^gateway_batch_size_count{batch="admit"} \d+$/m)?.[0]
    await rig.tenant.api.get('me')
    const before = await looks()
    expect(before).toBeDefined()
    const malformed = [
      '',
      'x',
      key.slice(0, -1),
      `${key}0`,
      key.toUpperCase(),
      `${prefix}${' '.repeat(64)}`,
      `${prefix}${'g'.repeat(64)}`,
    ]
    for (const wrong of [...malformed, `svc_test_${key.slice(9)}`, `${key}, ${key}`]) {
      expectRefusal(await api(rig.gateway, undefined, { 'x-api-key': wrong }).get('me'), 401, 'UNAUTHORIZED')
    }
    expect(await looks()).toBe(before)
  })

  it('that is sent in two headers is refused', async () => {
    const { apiKey } = rig.tenant.account
    for (const other of [apiKey, apiKey.replace(/.$/, 'x'), rig.stranger.account.apiKey]) {
      const ask = `GET /api/v1/me HTTP/1.1\r\nHost: x\r\nConnection: close\r\nx-api-key: ${apiKey}\r\nX-API-Key: ${other}\r\n\r\n`
      expect((await send(rig.gateway, ask)).text).toMatch(/^HTTP\/1\.1 401/)
    }
  })

  it('of a team is refused with another team of the same owner, with the same message as an unknown key', async () => {
    const options = { ownerEmail: rig.tenant.account.email, name: 'Team' }
    const [one, two] = [await createTeam(prisma(rig.databaseUrl), options), await createTeam(prisma(rig.databaseUrl), options)]
    const answer = await api(rig.gateway, one.apiKey, { 'x-team-id': two.teamId }).get('instances')
    expectRefusal(answer, 401, 'UNAUTHORIZED', 'Missing or invalid API key')
  })
})

async function requestsOf(accounts: readonly Account[]): Promise<number> {
  const { rows } = await sql(rig.databaseUrl).query(
    'select coalesce(sum("apiRequestsCount"), 0)::int as n from api_usage where "userId" = any($1)',
    [accounts.map(({ userId }) => userId)],
  )
  return rows[0]?.n as number
}

const pairs = 5_000

it('takes as long to refuse a key with a correct prefix as a random one', { timeout: 300_000 }, async () => {
  const app = await openApp(rig.databaseUrl)
  const key = rig.tenant.account.apiKey
  const random = (from: string) => prefix + from + randomBytes(32).toString('hex').slice(from.length)
  // The first 32 to 48 of the 64 digits are correct: the rest cannot be matched by chance.
  const right = () => random(key.slice(prefix.length, prefix.length + 32 + Math.floor(Math.random() * 17)))
  const wrong = () => random('')
  const tookMs = async (guess: string) => {
    const begun = performance.now()
    const { principal } = await admitKeys(app)({ key: guess, teamId: undefined, access: ['full'], scope: 'workspace' })
    const took = performance.now() - begun
    expect(principal).toBeNull()
    return took
  }
  for (let i = 0; i < 500; i++) await tookMs(wrong())
  const times = { right: [] as number[], wrong: [] as number[] }
  for (let i = 0; i < pairs; i++) {
    // The two kinds alternate in order, so that other load on this machine affects both equally.
    const kinds = [['right', right()] as const, ['wrong', wrong()] as const]
    for (const [kind, guess] of i % 2 === 0 ? kinds : kinds.toReversed()) times[kind].push(await tookMs(guess))
  }
  const t = welch(...trimmed(times.right, times.wrong))
  console.log(`t = ${t.toFixed(2)} over ${pairs} pairs`)
  expect(Math.abs(t)).toBeLessThan(4.5)
})

/**
 * Keeps from both samples the values up to the median of all: slower ones are noise of the machine, which would hide a
 * difference of 5 µs.
 */
function trimmed(a: readonly number[], b: readonly number[]): [number[], number[]] {
  const all = [...a, ...b].sort((x, y) => x - y)
  const median = all[all.length / 2] as number
  return [a.filter((x) => x <= median), b.filter((x) => x <= median)]
}
