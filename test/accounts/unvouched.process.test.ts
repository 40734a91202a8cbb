// An identity provider that does not vouch for an address gives nobody an account with it.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { api, cloneDatabase, command, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { browse, type Claims, openProvider } from './identity-provider.ts'
import { type Mailbox, openMailbox, textOf, tokenIn } from './mailbox.ts'
import { logIn, password } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let provider: Awaited<ReturnType<typeof openProvider>>
let gateway: Gateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  provider = await openProvider()
  mailbox = await openMailbox()
  gateway = await startGateway({
    databaseUrl,
    env: { ...provider.env, SMTP_URL: mailbox.url, CONSOLE_URL: 'http://console.example.com' },
  })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
})

const post = (path: string, body: object) => api(gateway).post(`/api/auth/${path}`, body)

/** Goes there and back; the session that the browser ends with. */
async function signInThere(claims: Claims): Promise<string | undefined> {
  provider.claims = claims
  const { cookies } = await browse(`${gateway.url}/api/auth/oauth/example`, [gateway.url, `http://127.0.0.1:${provider.port}`])
  return cookies.get('gateway.session_token')
}

/** Somebody whom the provider lets in with an address that is not theirs. */
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

describe('somebody who began at a provider that does not vouch for the address', () => {
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

  it.each(Object.keys(ways))('is not let in once its owner %s', async (way) => {
    const squatter = await squat()
    await ways[way]?.(squatter.email)
    expect(await linksOf(squatter.email)).toEqual(['credential'])
    expect(await signInThere(squatter)).toBeUndefined()
    expect((await logIn(gateway, squatter.email)).status).toBe(200)
    // The owner's own account there is joined, because the provider vouches for it.
    expect(await signInThere({ ...squatter, sub: randomUUID(), email_verified: true, name: 'Ada' })).toBeDefined()
  })

  it('is sent no token that proves the address and leaves the way in', async () => {
    const { email } = await squat()
    await mailTo(email, 'reset-password')
    expect(mailbox.mails.filter((mail) => mail.to === email && textOf(mail).includes('/verify-email?'))).toEqual([])
  })

  it('is let in once the provider has vouched for them', async () => {
    const claims = { ...(await squat()), email_verified: true }
    // The first time the address is proved, the next time they are let in.
    await signInThere(claims)
    expect(await signInThere(claims)).toBeDefined()
  })
})
