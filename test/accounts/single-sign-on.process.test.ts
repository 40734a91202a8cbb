// Signing in through an identity provider, and password logins during its outages.
import { createHash, randomUUID } from 'node:crypto'
import { createServer, type Socket } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { api, atEnd, cloneDatabase, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { browse, openProvider } from './identity-provider.ts'
import { logIn, newAccount, password } from './person.ts'

const consoleUrl = 'http://console.example.com'
let databaseUrl: string
let provider: Awaited<ReturnType<typeof openProvider>>
let gateway: Gateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  provider = await openProvider()
  gateway = await startGateway({ databaseUrl, env: { ...provider.env, CONSOLE_URL: consoleUrl } })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
})

const start = () => `${gateway.url}/api/auth/oauth/example`
const issuer = () => `http://127.0.0.1:${provider.port}`

/** Completes a sign-in at the provider; returns the browser's final location and session. */
async function signInThere(claims: Partial<typeof provider.claims>): Promise<{ location: string; session: string | undefined }> {
  provider.claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada', ...claims }
  const { location, cookies } = await browse(start(), [gateway.url, issuer()])
  return { location, session: cookies.get('gateway.session_token') }
}

/** Signs in at the provider up to the redirect back; returns the callback URL and the cookie for it. */
async function arrive(): Promise<{ location: string; cookie: string }> {
  const begun = await fetch(start(), { redirect: 'manual' })
  const [cookie] = begun.headers.getSetCookie().map((line) => line.split(';', 1)[0] as string)
  const { location } = await browse(begun.headers.get('location') as string, [issuer()])
  return { location, cookie: cookie as string }
}

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
    expectRefusal(answer, 400, 'VALIDATION_ERROR', `${name}: must be a string`)
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
      if (!url.endsWith('/src/accounts/sign-in/auth.ts')) return module
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
    expectRefusal(answer, 404, 'NOT_FOUND', 'There is no identity provider other')
  })
})

describe('a provider outage', () => {
  it('at the start of the gateway does not affect password logins, and ends as soon as the provider is back', async () => {
    const own = await cloneDatabase()
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => sockets.add(socket.on('error', () => {}))).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    atEnd('test', async () => void silent.close())
    const env = { ...provider.env, OIDC_DISCOVERY_URL: `http://127.0.0.1:${port}/.well-known/openid-configuration` }
    const alone = await startGateway({ databaseUrl: own, env })
    const { email } = await newAccount(own)
    // Password logins succeed while another request waits for the provider.
    await until(async () => {
      let answered = false
      const asked = api(alone)
        .get('/api/auth/oauth/example')
        .finally(() => {
          answered = true
        })
      const { status } = await logIn(alone, email)
      const meanwhile = !answered
      expectRefusal(await asked, 503, 'SERVICE_UNAVAILABLE', 'The identity provider example cannot be reached')
      return meanwhile && status === 200
    })
    expect(sockets.size).toBeGreaterThan(0)
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => silent.close(resolve))
    expectRefusal(await api(alone).get('/api/auth/oauth/example'), 503, 'SERVICE_UNAVAILABLE')
    const back = await openProvider(port)
    back.allow(`${alone.url}/api/auth/oauth/example/callback`)
    const answer = await api(alone).get('/api/auth/oauth/example')
    expect({ status: answer.status, there: answer.headers.get('location')?.startsWith(`http://127.0.0.1:${port}/`) }).toEqual({
      status: 302,
      there: true,
    })
    // Without a console URL the callback leads to a page of the gateway itself.
    const failed = await api(alone).get('/api/auth/oauth/example/callback?error=access_denied&state=forged')
    const end = new URL(failed.headers.get('location') as string)
    expect([end.origin, end.pathname, end.searchParams.has('error')]).toEqual([alone.url, '/', true])
    expect((await fetch(end)).headers.get('content-type')).toBe('text/html; charset=utf-8')
  })

  it('during a sign-in ends in a timeout, and does not affect password logins', async () => {
    const there = await Promise.all(Array.from({ length: 120 }, arrive))
    // The provider answers byte by byte without end.
    const hanging = { now: 0, most: 0 }
    provider.instead = (_, response) => {
      hanging.most = Math.max(hanging.most, ++hanging.now)
      response.writeHead(200, { 'content-type': 'application/json' })
      const drip = setInterval(() => response.write(' '), 100)
      response.on('close', () => {
        hanging.now--
        clearInterval(drip)
      })
    }
    const waiting = there.map(({ location, cookie }) => fetch(location, { redirect: 'manual', headers: { cookie } }))
    const { email } = await newAccount(databaseUrl)
    expect((await logIn(gateway, email)).status).toBe(200)
    const refused = {
      error: { code: 'SERVICE_UNAVAILABLE', message: expect.stringMatching(/is asked by too many at once|does not answer/) },
    }
    for (const answer of await Promise.all(waiting)) expect([answer.status, await answer.json()]).toEqual([503, refused])
    // The requests to the provider are aborted once nothing waits for them.
    await until(() => hanging.now === 0)
    expect(hanging.most).toBeGreaterThan(0)
    expect(hanging.most).toBeLessThanOrEqual(100)
    provider.instead = null
    expect((await signInThere({})).session).toBeDefined()
  })
})
