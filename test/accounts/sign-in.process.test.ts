// Signing in starts a session with a cookie; the session's tokens are valid only as long as the session.
import { randomUUID } from 'node:crypto'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { lose } from '../kit/fault.ts'
import type { OpenGateway } from '../kit/open-gateway.ts'
import { expectRefusal, moment, uuid } from '../rest-compat/rig.ts'
import { logIn, newAccount, newPerson, openTwo, password, signIn } from './person.ts'

let databaseUrl: string
let gateways: [OpenGateway, OpenGateway]

beforeAll(async () => {
  ;({ databaseUrl, gateways } = await openTwo())
})

const renew = (cookie: string, headers: Record<string, string> = {}) =>
  api(gateways[0]).post('/api/auth/token', undefined, { cookie, ...headers })
const refused = 'Missing or invalid token'

describe('a login', () => {
  it('gives an access token of ten minutes and the session’s cookie', async () => {
    const account = await newAccount(databaseUrl)
    const answer = await logIn(gateways[0], account.email.toUpperCase())
    expect(answer.status).toBe(200)
    const user = { id: account.userId, email: account.email, name: 'Ada', emailVerified: true, createdAt: moment }
    expect(answer.body).toStrictEqual({ data: { accessToken: expect.any(String), expiresIn: 600, user } })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const [cookie] = answer.headers.getSetCookie()
    expect(cookie).toMatch(/^gateway\.session_token=\S+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
    const token: string = answer.body.data.accessToken
    expect(decodeProtectedHeader(token)).toStrictEqual({ alg: 'EdDSA', kid: uuid })
    const claims = decodeJwt(token)
    const iat = claims.iat as number
    // The id is the only personal data in the claims.
    const expected = { sub: account.userId, sid: uuid, iat, exp: iat + 600, iss: 'http://gateway.example.com', aud: 'console' }
    expect(claims).toStrictEqual(expected)
  })

  it('is refused with the same message for a wrong password and for an unknown address', async () => {
    const { email } = await newAccount(databaseUrl)
    for (const address of [email, `${randomUUID()}@example.com`]) {
      expectRefusal(
        await logIn(gateways[0], address, 'wrong password'),
        401,
        'INVALID_CREDENTIALS',
        'Wrong e-mail address or password',
      )
    }
  })

  it('is refused after five failures for one address, known or not, on every process; other addresses are not', async () => {
    for (const { email } of [await newAccount(databaseUrl), { email: `${randomUUID()}@example.com` }]) {
      const codes: string[] = []
      for (let i = 0; i < 7; i++)
        codes.push((await logIn(gateways[i % 2] as OpenGateway, email, 'wrong password')).body.error.code)
      expect(codes).toEqual([...Array(5).fill('INVALID_CREDENTIALS'), ...Array(2).fill('API_RATE_LIMIT_EXCEEDED')])
      // The right password is refused too; otherwise guessing could continue.
      const late = await logIn(gateways[0], email)
      expectRefusal(late, 429, 'API_RATE_LIMIT_EXCEEDED')
      expect(Number(late.headers.get('retry-after'))).toBeGreaterThan(800)
    }
    expect((await logIn(gateways[0], (await newAccount(databaseUrl)).email)).status).toBe(200)
  })

  it('is refused after five failures, even under concurrency', async () => {
    const { email } = await newAccount(databaseUrl)
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => logIn(gateways[i % 2] as OpenGateway, email, 'wrong password')),
    )
    const outcome = answers.map(({ status }) => status).sort()
    expect(outcome).toEqual([...Array(5).fill(401), ...Array(15).fill(429)])
  })

  it('resets the failures on success, and 15 minutes after they happened', async () => {
    const { email } = await newAccount(databaseUrl)
    for (let i = 0; i < 4; i++) await logIn(gateways[0], email, 'wrong password')
    expect((await logIn(gateways[0], email)).status).toBe(200)
    for (let i = 0; i < 5; i++) expect((await logIn(gateways[0], email, 'wrong password')).status).toBe(401)
    expect((await logIn(gateways[0], email)).status).toBe(429)
    await sql(databaseUrl).query(`update email_counts set at = array(select t - interval '15 minutes' from unnest(at) t)`)
    expect((await logIn(gateways[0], email)).status).toBe(200)
  })

  it('names the invalid fields, including a password that is too long to hash', async () => {
    const answer = await api(gateways[0]).post('/api/auth/login', { email: 7, password: 'x'.repeat(129) })
    expectRefusal(answer, 400, 'VALIDATION_ERROR', 'email: must be an e-mail address; password: must have at most 128 characters')
  })
})

describe('a session', () => {
  it('gives further tokens for its cookie, and none without the cookie, with a forged one or after expiry', async () => {
    const person = await newPerson(gateways[0], databaseUrl)
    const answer = await renew(person.cookie)
    expect({ status: answer.status, body: answer.body }).toStrictEqual({
      status: 200,
      body: { data: { accessToken: expect.any(String), expiresIn: 600 } },
    })
    expectRefusal(await api(gateways[0]).post('/api/auth/token'), 401, 'UNAUTHORIZED', refused)
    const forged = person.cookie.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
    expectRefusal(await renew(forged.replace('%3D', 'A%3D')), 401, 'UNAUTHORIZED', refused)
    await sql(databaseUrl).query('update auth_sessions set "expiresAt" = now() where "userId" = $1', [person.userId])
    expectRefusal(await renew(person.cookie), 401, 'UNAUTHORIZED', refused)
    expectRefusal(await person.api.get('/api/instances'), 401, 'UNAUTHORIZED', refused)
  })

  it('gives no token during a database failure, and survives it', async () => {
    const person = await newPerson(gateways[0], databaseUrl)
    await sql(databaseUrl).query('alter table auth_sessions rename to auth_sessions_away')
    try {
      const answer = await renew(person.cookie)
      expectRefusal(answer, 503, 'SERVICE_UNAVAILABLE')
      expect(answer.headers.get('retry-after')).toBe('1')
    } finally {
      await sql(databaseUrl).query('alter table auth_sessions_away rename to auth_sessions')
    }
    expect((await renew(person.cookie)).status).toBe(200)
    // The log gives the operator the reason.
    await gateways[0].line(/"part":"identity".*"err":\{.*auth_sessions.* does not exist/)
  })

  it('gives no token when it ends during the token request', async () => {
    const person = await newPerson(gateways[0], databaseUrl)
    await sql(databaseUrl).query(`update auth_sessions set "expiresAt" = now() + interval '10 days' where "userId" = $1`, [
      person.userId,
    ])
    // The session is found by the first statement and is gone at the next.
    await lose(databaseUrl, 'update', 'auth_sessions')
    expectRefusal(await renew(person.cookie), 401, 'UNAUTHORIZED', refused)
  })

  it('lasts 30 days from its last use', async () => {
    const person = await newPerson(gateways[0], databaseUrl)
    const set = `update auth_sessions set "expiresAt" = now() + interval '10 days' where "userId" = $1`
    await sql(databaseUrl).query(set, [person.userId])
    const [cookie] = (await renew(person.cookie)).headers.getSetCookie()
    expect(cookie).toContain('Max-Age=2592000')
    const { rows } = await sql(databaseUrl).query(
      `select round(extract(epoch from "expiresAt" - now()) / 86400)::int as days from auth_sessions where "userId" = $1`,
      [person.userId],
    )
    expect(rows).toEqual([{ days: 30 }])
  })

  it.each(['token', 'login', 'logout'])('is refused to other origins: %s', async (route) => {
    const person = await newPerson(gateways[0], databaseUrl)
    const ask = (origin: string) =>
      api(gateways[0]).post(`/api/auth/${route}`, { email: person.email, password }, { cookie: person.cookie, origin })
    for (const origin of [
      'http://evil.example',
      'null',
      'http://gateway.example.com.evil.example',
      'https://gateway.example.com',
    ]) {
      const answer = await ask(origin)
      expectRefusal(answer, 403, 'FORBIDDEN')
      expect(answer.headers.getSetCookie()).toEqual([])
    }
    expect((await renew(person.cookie)).status).toBe(200)
    expect((await ask('http://gateway.example.com')).status).toBe(200)
  })

  it('is listed to its owner, and only its owner can end it', async () => {
    const first = await newPerson(gateways[0], databaseUrl)
    const second = await signIn(gateways[1], first)
    const stranger = await newPerson(gateways[0], databaseUrl)
    const list = (await second.api.get('/api/auth/sessions')).body.data
    const record = { id: uuid, ipAddress: '127.0.0.1', userAgent: 'node', createdAt: moment, expiresAt: moment }
    expect(list).toStrictEqual([
      { ...record, current: true },
      { ...record, current: false },
    ])
    const path = `/api/auth/sessions/${list[1].id}`
    expectRefusal(await stranger.api.delete(path), 404, 'NOT_FOUND', 'Session not found')
    expectRefusal(await second.api.delete('/api/auth/sessions/x'), 400, 'VALIDATION_ERROR', 'id: must be a UUID')
    expectRefusal(await api(gateways[0]).delete(path), 401, 'UNAUTHORIZED', refused)
    expect((await second.api.delete(path)).body).toStrictEqual({ data: { id: list[1].id, deleted: true } })
    expectRefusal(await second.api.delete(path), 404, 'NOT_FOUND')
    expectRefusal(await first.api.get('/api/auth/sessions'), 401, 'UNAUTHORIZED', refused)
    expect((await second.api.get('/api/auth/sessions')).body.data).toHaveLength(1)
  })
})

it('keeps at most a thousand sessions of one person and drops those unused for longest', async () => {
  const person = await newPerson(gateways[0], databaseUrl)
  await sql(databaseUrl).query(
    `insert into auth_sessions (id, token, "userId", "expiresAt") select gen_random_uuid(), gen_random_uuid(), $1, now() + n * interval '1 minute'
      from generate_series(1, 1100) n`,
    [person.userId],
  )
  const headers = { 'user-agent': 'x'.repeat(8_000) }
  await api(gateways[0]).post('/api/auth/login', { email: person.email, password }, headers)
  const list: { expiresAt: string; userAgent: string }[] = (await person.api.get('/api/auth/sessions')).body.data
  expect(list).toHaveLength(1_000)
  // The two real sign-ins and the newest of the inserted ones remain.
  expect(list.map(({ expiresAt }) => Date.parse(expiresAt) - Date.now()).filter((ms) => ms < 101 * 60_000)).toEqual([])
  expect(list.map(({ userAgent }) => userAgent?.length)).toContain(512)
})
