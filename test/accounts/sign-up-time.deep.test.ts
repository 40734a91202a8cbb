// The time of an answer does not reveal which addresses have accounts.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { slow } from '../kit/fault.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { welch } from '../kit/welch.ts'
import { openMailbox } from './mailbox.ts'
import { hashAtRealCost, logIn, newAccount, password } from './person.ts'

let databaseUrl: string
let gateway: Gateway
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  gateway = await startGateway({ databaseUrl, env: { ...hashAtRealCost(), SMTP_URL: mailbox.url } })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`

// Work that is done only for a known address is slowed down, so that a difference shows even on a busy machine.
it.each([
  ['password/forgot', 'mails'],
  ['verify-email/resend', 'mails'],
  ['signup', 'auth_accounts'],
])(
  'a request about an address that has an account takes as long as any other: %s',
  { timeout: 120_000 },
  async (route, table) => {
    const slowerMs = 80
    await slow(databaseUrl, 'insert', table, slowerMs)
    const bestMs = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY }
    // The best time of each kind excludes other load on the machine; a real difference stays, however many times it is retried.
    const apartMs = () => Math.abs(bestMs.known - bestMs.unknown)
    for (let tries = 0; tries < 12 || (tries < 40 && apartMs() >= slowerMs / 2); tries++) {
      // Each address is mailed for the first time; a resend applies only before the address is verified.
      const { email } = await newAccount(databaseUrl)
      await sql(databaseUrl).query('update users set "emailVerified" = false where email = $1', [email])
      for (const [who, address] of [
        ['known', email],
        ['unknown', newEmail()],
      ] as const) {
        const begin = performance.now()
        await client.post(`/api/auth/${route}`, { email: address, password, name: 'Ada' })
        bestMs[who] = Math.min(bestMs[who], performance.now() - begin)
      }
    }
    expect(apartMs()).toBeLessThan(slowerMs / 2)
  },
)

it('a wrong password is refused in the same time as an unknown address', async () => {
  const accounts = await Promise.all(Array.from({ length: 40 }, () => newAccount(databaseUrl)))
  const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
  for (const [i, { email }] of accounts.entries()) {
    const kinds = [['known', email] as const, ['unknown', newEmail()] as const]
    // The order alternates, so that any cost of being first affects both alike.
    for (const [who, address] of i % 2 === 0 ? kinds : kinds.toReversed()) {
      const begin = performance.now()
      expect((await logIn(gateway, address, 'a wrong password')).status).toBe(401)
      times[who].push(performance.now() - begin)
    }
  }
  // Other load on the machine causes outliers, which are cut at one common bound. Separate bounds for the two lists would add
  // a chance difference that Welch's t does not account for.
  const rare = [...times.known, ...times.unknown].sort((a, b) => a - b).at(-8) as number
  const usual = (list: number[]) => list.filter((ms) => ms < rare)
  expect(Math.abs(welch(usual(times.known), usual(times.unknown)))).toBeLessThan(4.5)
})
