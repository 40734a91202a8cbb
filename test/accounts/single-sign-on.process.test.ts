// A person signs in through an identity provider, and no one reaches the account of another that way.
import { createHash, randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { asBrowser, browse } from './identity-provider.ts'
import { logIn, newAccount, password } from './person.ts'
import { consoleUrl, openSingleSignOn, type SingleSignOn } from './single-sign-on-rig.ts'

let databaseUrl: SingleSignOn['databaseUrl']
let provider: SingleSignOn['provider']
let gateway: SingleSignOn['gateway']
let start: SingleSignOn['start']
let issuer: SingleSignOn['issuer']
let signInThere: SingleSignOn['signInThere']

beforeAll(async () => {
  ;({ databaseUrl, provider, gateway, start, issuer, signInThere } = await openSingleSignOn())
})

async function meOf(session: string | undefined): Promise<{ email: string; name: string; plan: { code: string } }> {
  const client = api(gateway)
  const answer = await client.post('/api/auth/token', undefined, { cookie: `gateway.session_token=${session}` })
  const headers = { authorization: `Bearer ${answer.body.data.accessToken}` }
  return (await client.graphql('{ me { email name plan { code } } }', {}, headers)).body.data.me
}

describe('signing in through the provider', () => {
  it('creates an account with a workspace, and returns to the console with a session', async () => {
    const email = `${randomUUID()}@example.com`
    const { location, session } = await signInThere({ email, name: 'Grace' })
    expect(location).toBe(`${consoleUrl}/`)
    expect(await meOf(session)).toEqual({ email, name: 'Grace', plan: { code: 'free' } })
    const { rows } = await sql(databaseUrl).query(
      `select a."providerId", a."accessToken", a."refreshToken", a."idToken" from auth_accounts a join users u on u.id = a."userId" where u.email = $1`,
      [email],
    )
    // The provider is not contacted later, so none of its tokens is stored.
    expect(rows).toEqual([{ providerId: 'example', accessToken: null, refreshToken: null, idToken: null }])
  })

  it('returns to the page of the console that asked for it, and to no other origin', async () => {
    provider.claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' }
    const returned = async (next: string) =>
      (await browse(`${start()}?${new URLSearchParams({ next })}`, [gateway.url, issuer()])).location
    expect(await returned('/invitation?token=abc')).toBe(`${consoleUrl}/invitation?token=abc`)
    expect(new URL(await returned('//evil.example/')).origin).toBe(consoleUrl)
    for (const next of ['https://evil.example/', '@evil.example/', '.evil.example/', '/a\nb']) {
      const answer = await api(gateway).get(`/api/auth/oauth/example?${new URLSearchParams({ next })}`)
      expect([next, answer.status]).toEqual([next, 400])
    }
  })

  it('finds the same account by the subject, not by the address', async () => {
    const [sub, email] = [randomUUID(), `${randomUUID()}@example.com`]
    await signInThere({ sub, email })
    const { session } = await signInThere({ sub, email: `${randomUUID()}@example.com` })
    expect((await meOf(session)).email).toBe(email)
  })

  it('links an account whose address both sides have verified, and keeps its password', async () => {
    const { email } = await newAccount(databaseUrl, 'pro')
    const { session } = await signInThere({ email })
    expect(await meOf(session)).toMatchObject({ email, plan: { code: 'pro' } })
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it('links no account whose address the provider does not vouch for', async () => {
    const { email } = await newAccount(databaseUrl)
    const { location, session } = await signInThere({ email, email_verified: false })
    expect(location).toMatch(new RegExp(`^${consoleUrl}/?\\?error=`))
    expect(session).toBeUndefined()
  })

  it('links no account that was signed up with an unverified address', async () => {
    const email = `${randomUUID()}@example.com`
    await api(gateway).post('/api/auth/signup', { email, password, name: 'Mallory' })
    const { location, session } = await signInThere({ email })
    expect(location).toMatch(new RegExp(`^${consoleUrl}/?\\?error=`))
    expect(session).toBeUndefined()
  })

  it.each(['mallory@example.com, ada@example.com', 'müller@example.com'])(
    'creates no account with an invalid address that the provider does not vouch for: %s',
    async (email) => {
      const { location, session } = await signInThere({ email, email_verified: false })
      expect(location).toContain(`${consoleUrl}/?error=email_not_valid`)
      expect(session).toBeUndefined()
      expect((await sql(databaseUrl).query('select from users where email = $1', [email])).rowCount).toBe(0)
    },
  )

  it("refuses a squatter's unverified identity once the owner has proved the address by a password reset", async () => {
    const [sub, email] = [randomUUID(), `${randomUUID()}@example.com`]
    const squatter = { sub, email, email_verified: false, name: 'Mallory' }
    expect((await signInThere(squatter)).session).toBeUndefined()
    // The owner is mailed that an account exists, and requests a password reset.
    const { rows } = await sql(databaseUrl).query<{ id: string }>('select id from users where email = $1', [email])
    const token = randomUUID()
    await sql(databaseUrl).query(
      `insert into auth_verifications (id, identifier, value, "expiresAt") values (gen_random_uuid(), $1, $2, now() + interval '1 hour')`,
      [createHash('sha256').update(`reset-password:${token}`).digest('base64url'), rows[0]?.id],
    )
    expect((await api(gateway).post('/api/auth/password/reset', { token, password })).status).toBe(200)
    const back = await signInThere(squatter)
    expect(back.location).toMatch(new RegExp(`^${consoleUrl}/?\\?error=account_not_linked`))
    expect(back.session).toBeUndefined()
    expect((await logIn(gateway, email)).status).toBe(200)
    // The owner's own identity at the provider is linked from then on.
    expect(await meOf((await signInThere({ email })).session)).toMatchObject({ email })
  })
})

describe('the redirect to the provider', () => {
  it('carries a state, a nonce and a PKCE challenge', async () => {
    const response = await fetch(start(), { redirect: 'manual' })
    expect(response.status).toBe(302)
    const location = new URL(response.headers.get('location') as string)
    expect(location.origin).toBe(issuer())
    const query = Object.fromEntries(location.searchParams)
    expect(query).toMatchObject({
      response_type: 'code',
      client_id: 'gateway',
      redirect_uri: `${start()}/callback`,
      code_challenge_method: 'S256',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      state: expect.stringMatching(/^.{16,}$/),
      nonce: expect.stringMatching(/^.{16,}$/),
    })
    expect(query.scope?.split(' ').sort()).toEqual(['email', 'openid', 'profile'])
  })

  it.each(['', '?state=x', '?code=x', '?code=x&state=forged', '?error=access_denied&state=forged'])(
    'gives no session on a callback without a valid state: %j',
    async (query) => {
      const response = await fetch(`${start()}/callback${query}`, { redirect: 'manual' })
      expect(response.status).toBe(302)
      expect(response.headers.get('location')).toMatch(new RegExp(`^${consoleUrl}/?\\?.*error=`))
      expect(
        response.headers.getSetCookie().filter((line) => line.startsWith('gateway.session_token=') && !/max-age=0/i.test(line)),
      ).toEqual([])
    },
  )

  it.each(['code', 'state', 'error'])('is refused on a callback with a repeated parameter, with its name: %s', async (name) => {
    const answer = await api(gateway).get(`/api/auth/oauth/example/callback?${name}=a&${name}=b`)
    expectRefusal(answer, 400, 'VALIDATION_ERROR', `${name}: must be given once`)
  })

  it('cannot be completed in another browser', async () => {
    provider.claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' }
    const begun = await fetch(start(), { redirect: 'manual' })
    // The victim's browser has no state cookie.
    const { location } = await browse(begun.headers.get('location') as string, [issuer()])
    const response = await fetch(location, { redirect: 'manual' })
    expect(response.headers.get('location')).toMatch(new RegExp(`^${consoleUrl}/?\\?.*error=`))
  })

  it('succeeds even if the process loads the sign-in module slowly', async () => {
    // The delay exceeds the provider timeout.
    const load = `(url, context, next) => {
      const module = next(url, context)
      if (!url.endsWith('/node_modules/better-auth/dist/index.mjs')) return module
      return { ...module, source: 'await new Promise((resolve) => setTimeout(resolve, 3500));' + module.source }
    }`
    const hooks = `import { registerHooks } from 'node:module'; registerHooks({ load: ${load} })`
    const env = { ...provider.env, NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(hooks)}` }
    const slow = await startGateway({ databaseUrl, env })
    const begun = performance.now()
    expect((await fetch(`${slow.url}/api/auth/oauth/example`, { redirect: 'manual' })).status).toBe(302)
    expect(performance.now() - begun, 'it was loaded now').toBeGreaterThan(3_500)
  })

  it('is 404 for a provider that is not configured', async () => {
    const answer = await api(gateway).get('/api/auth/oauth/other')
    expectRefusal(answer, 404, 'NOT_FOUND', 'No identity provider is called other')
  })
})

it('creates no account that `SIGNUP` does not allow, returns a browser to the console with the reason, and signs in people who have one', async () => {
  const closed = await openSingleSignOn({ SIGNUP: 'closed' })
  const claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada' }
  closed.provider.claims = claims
  const within = [closed.gateway.url, closed.issuer()]
  await expect(browse(closed.start(), within)).rejects.toThrow(/was answered 403 .*"FORBIDDEN"/)
  const { location, cookies } = await browse(closed.start(), within, asBrowser)
  expect([location, cookies.has('gateway.session_token')]).toEqual([`${consoleUrl}/?error=signup_disabled`, false])
  expect((await sql(closed.databaseUrl).query('select from users where email = $1', [claims.email])).rowCount).toBe(0)
  const { email } = await newAccount(closed.databaseUrl)
  expect((await closed.signInThere({ email })).session).toEqual(expect.any(String))
})
