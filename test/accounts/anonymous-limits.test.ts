// Unauthenticated requests are rate limited per network and per address, equally for known and unknown addresses.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { countDigest } from '../../src/accounts/counts.ts'
import { type Answer, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { openProvider } from './identity-provider.ts'
import { newAccount, password } from './person.ts'

let databaseUrl: string
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const provider = await openProvider()
  gateway = await openGateway({ databaseUrl, env: { ...provider.env, TRUST_PROXY: '1' } })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
})

const newEmail = () => `${randomUUID()}@example.com`

let networks = 0
const newNetwork = () => `198.51.${Math.floor(++networks / 250)}.${networks % 250}`

/** Stores this many requests of the kind as made just now. */
async function asked(kind: string, what: 'network' | 'address', name: string, times: number): Promise<void> {
  await sql(databaseUrl).query(
    `insert into email_counts (digest, at) values ($1, array(select now() from generate_series(1, $2::int)))
      on conflict (digest) do update set at = excluded.at`,
    [countDigest(`${kind}\n${what}\n${name}`), times],
  )
}

const kinds = [
  ['signup', 'signup', 201],
  ['resend', 'verify-email/resend', 202],
  ['forgot', 'password/forgot', 202],
] as const

const ask = (path: string, email: string, ip: string): Promise<Answer> =>
  api(gateway).post(`/api/auth/${path}`, { email, password, name: 'Ada' }, { 'x-forwarded-for': ip })

function expectBounded(answer: Answer): void {
  expectRefusal(answer, 429, 'API_RATE_LIMIT_EXCEEDED')
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(3_000)
  expect(Number(answer.headers.get('retry-after'))).toBeLessThanOrEqual(3_600)
}

describe.each(kinds)('%s', (kind, path, status) => {
  it('is limited to 300 an hour from one network, with the same refusal for every address', async () => {
    const ip = newNetwork()
    await asked(kind, 'network', ip, 299)
    expect((await ask(path, newEmail(), ip)).status).toBe(status)
    const { email: known } = await newAccount(databaseUrl)
    for (const email of [known, newEmail()]) expectBounded(await ask(path, email, ip))
    expect((await ask(path, newEmail(), newNetwork())).status).toBe(status)
  })

  it('counts an IPv6 /64 as one network', async () => {
    await asked(kind, 'network', '2001:db8:7:7::/64', 300)
    expectBounded(await ask(path, newEmail(), '2001:db8:7:7:1::9'))
    expect((await ask(path, newEmail(), '2001:db8:7:8:1::9')).status).toBe(status)
  })

  it('is limited to 30 an hour for one address over all networks, known or unknown', async () => {
    const { email: known } = await newAccount(databaseUrl)
    for (const email of [known, newEmail()]) {
      await asked(kind, 'address', email, 29)
      expect((await ask(path, email.toUpperCase(), newNetwork())).status).toBe(status)
      expectBounded(await ask(path, email, newNetwork()))
    }
  })

  it('is counted exactly under concurrency, and separately for each kind of request', async () => {
    const ip = newNetwork()
    await asked(kind, 'network', ip, 295)
    const answers = await Promise.all(Array.from({ length: 12 }, () => ask(path, newEmail(), ip)))
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(5).fill(status), ...Array(7).fill(429)])
    const other = kinds.find(([name]) => name !== kind) as (typeof kinds)[number]
    expect((await ask(other[1], newEmail(), ip)).status).toBe(other[2])
  })
})

it('limits sign-ins at an identity provider per network, and a refused one stores nothing', async () => {
  const ip = newNetwork()
  const go = () => api(gateway).get('/api/auth/oauth/example', { 'x-forwarded-for': ip })
  await asked('single sign-on', 'network', ip, 299)
  expect((await go()).status).toBe(302)
  const rows = 'select count(*)::int as n from auth_verifications'
  const before = (await sql(databaseUrl).query(rows)).rows[0].n
  expectBounded(await go())
  expect((await sql(databaseUrl).query(rows)).rows[0].n).toBe(before)
})
