// An identity provider that does not vouch for an address gives no access to an account with that address.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { browse, type Claims, openProvider } from './identity-provider.ts'
import { type Mailbox, openMailbox, textOf, tokenIn } from './mailbox.ts'
import { logIn, password } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let provider: Awaited<ReturnType<typeof openProvider>>
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  provider = await openProvider()
  mailbox = await openMailbox()
  gateway = await openGateway({
    databaseUrl,
    env: { ...provider.env, SMTP_URL: mailbox.url, CONSOLE_URL: 'http://console.example.com' },
  })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
})

const post = (path: string, body: object) => api(gateway).post(`/api/auth/${path}`, body)

/** Completes the sign-in at the provider; returns the browser's session cookie, if any. */
async function signInThere(claims: Claims): Promise<string | undefined> {
  provider.claims = claims
  const { cookies } = await browse(`${gateway.url}/api/auth/oauth/example`, [gateway.url, `http://127.0.0.1:${provider.port}`])
  return cookies.get('gateway.session_token')
}

/** Signs in at the provider with an unverified address; returns the claims of this squatter. */
async function squat(): Promise<Claims> {
  const claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: false, name: 'Mallory' }
  expect(await signInThere(claims)).toBeUndefined()
  return claims
}

const linksOf = async (email: string) => {
  const query = `select a."providerId" from auth_accounts a join users u on u.id = a."userId" where u.email = $1`
  return (await sql(databaseUrl).query<{ providerId: string }>(query, [email])).rows.map(({ providerId }) => providerId)
}

const mailTo = (email: string, page: string) =>
  until(() => mailbox.mails.find((mail) => mail.to === email && textOf(mail).includes(`/${page}?token=`)))

describe('a squatter who began at a provider that does not vouch for the address', () => {
  const ways: Record<string, (email: string) => Promise<void>> = {
    async 'signs up and follows the mail'(email) {
      expect((await post('signup', { email, password, name: 'Ada' })).status).toBe(201)
      expect(await linksOf(email)).toEqual(['credential'])
      const token = tokenIn(await mailTo(email, 'verify-email'))
      expect((await post('verify-email', { token })).status).toBe(200)
    },
    async 'sets a password with the mail that the sign-in caused'(email) {
      const token = tokenIn(await mailTo(email, 'reset-password'))
      expect((await post('password/reset', { token, password })).status).toBe(200)
    },
    async 'sets a password with a mail that they ask for again'(email) {
      await mailTo(email, 'reset-password')
      await post('verify-email/resend', { email })
      const second = await until(() => mailbox.mails.filter(({ to }) => to === email)[1])
      expect((await post('password/reset', { token: tokenIn(second), password })).status).toBe(200)
    },
    async 'signs up, and the operator takes their word'(email) {
      await post('signup', { email, password, name: 'Ada' })
      expect((await command(['account', 'verify', '--email', email], { databaseUrl })).code).toBe(0)
    },
  }

  it.each(Object.keys(ways))('is not signed in once its owner %s', async (way) => {
    const squatter = await squat()
    await ways[way]?.(squatter.email)
    expect(await linksOf(squatter.email)).toEqual(['credential'])
    expect(await signInThere(squatter)).toBeUndefined()
    expect((await logIn(gateway, squatter.email)).status).toBe(200)
    // The owner's own identity at the provider is linked, because the provider vouches for its address.
    expect(await signInThere({ ...squatter, sub: randomUUID(), email_verified: true, name: 'Ada' })).toBeDefined()
  })

  it("causes no mail whose token verifies the address and keeps the squatter's identity linked", async () => {
    const { email } = await squat()
    await mailTo(email, 'reset-password')
    expect(mailbox.mails.filter((mail) => mail.to === email && textOf(mail).includes('/verify-email?'))).toEqual([])
  })

  it('is signed in once the provider vouches for the address', async () => {
    const claims = { ...(await squat()), email_verified: true }
    // The first sign-in verifies the address, and the second one gives a session.
    await signInThere(claims)
    expect(await signInThere(claims)).toBeDefined()
  })
})
