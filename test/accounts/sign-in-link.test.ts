// Proves that a one-time link signs in as a login does, once and for ten minutes, and that nothing stored leads back to it.
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { setPassword } from '../../src/accounts/service.ts'
import { makeSignInLink } from '../../src/accounts/sign-in/link.ts'
import { api } from '../kit/api.ts'
import { command } from '../kit/command.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { hasIpv6 } from '../kit/ipv6.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { ownPort } from '../kit/port.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newAccount } from './person.ts'

const gateway = commons()
const db = prisma(gateway.databaseUrl)
const base = 'https://console.example'

async function newLink(email: string): Promise<string> {
  const link = await makeSignInLink(db, { email, base })
  expect(link).toMatch(/^https:\/\/console\.example\/sign-in#once=[\w-]{32}$/)
  return link.split('#once=')[1] as string
}

const open = (token: string, headers: Record<string, string> = {}) =>
  api(gateway).post('/api/auth/login/link', { token }, headers)

describe('a one-time link', () => {
  it('gives the answer and the cookies of a login, whose session works', async () => {
    const { email, userId } = await newAccount(gateway.databaseUrl)
    const answer = await open(await newLink(email.toUpperCase()), { 'user-agent': 'Browser' })
    expect(answer.status).toBe(200)
    expect(answer.body).toStrictEqual({
      data: {
        accessToken: expect.any(String),
        expiresIn: 600,
        user: { id: userId, email, name: 'Ada', emailVerified: true, createdAt: expect.any(String) },
      },
    })
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const cookies = answer.headers.getSetCookie()
    expect(cookies[0]).toMatch(/^gateway\.session_token=\S+; Max-Age=2592000; Path=\/; HttpOnly; SameSite=Lax$/)
    expect(cookies[1]).toMatch(/^gateway\.device=/)
    const authorization = `Bearer ${answer.body.data.accessToken}`
    expect((await api(gateway).get('/api/me', { authorization })).body.data).toMatchObject({ id: userId })
    const cookie = cookies.map((text) => text.split(';', 1)[0]).join('; ')
    expect((await api(gateway).post('/api/auth/token', undefined, { cookie })).status).toBe(200)
    const sessions = (await api(gateway).get('/api/auth/sessions', { authorization })).body.data
    expect(sessions).toMatchObject([{ current: true, userAgent: 'Browser' }])
  })

  it('works once, also for two requests at the same time', async () => {
    const { email } = await newAccount(gateway.databaseUrl)
    const token = await newLink(email)
    const answers = await Promise.all([open(token), open(token), open(token)])
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400])
    expectRefusal(await open(token), 400, 'INVALID_TOKEN')
  })

  it('is void after ten minutes, after a new password, and if it was made for something else', async () => {
    const { email, userId } = await newAccount(gateway.databaseUrl)
    const late = await newLink(email)
    const left = `select extract(epoch from "expiresAt" - now()) as seconds from auth_verifications where value = $1`
    const { rows } = await sql(gateway.databaseUrl).query(left, [`sign-in:${userId}`])
    expect(Number(rows[0].seconds)).toBeGreaterThan(540)
    expect(Number(rows[0].seconds)).toBeLessThanOrEqual(601)
    await sql(gateway.databaseUrl).query(`update auth_verifications set "expiresAt" = now() where value = $1`, [
      `sign-in:${userId}`,
    ])
    expectRefusal(await open(late), 400, 'INVALID_TOKEN')
    const token = await newLink(email)
    await setPassword(db, { email, password: 'another password' })
    expectRefusal(await open(token), 400, 'INVALID_TOKEN')
    expectRefusal(await open(randomUUID()), 400, 'INVALID_TOKEN')
    expectRefusal(await open(''), 400, 'VALIDATION_ERROR')
    const reset = await api(gateway).post('/api/auth/password/reset', {
      token: await newLink(email),
      password: 'yet another one',
    })
    expectRefusal(reset, 400, 'INVALID_TOKEN')
  })

  it('is not stored, only its digest', async () => {
    const { email } = await newAccount(gateway.databaseUrl)
    const token = await newLink(email)
    const { rowCount } = await sql(gateway.databaseUrl).query(
      'select from auth_verifications v where position($1 in v::text) > 0',
      [token],
    )
    expect(rowCount).toBe(0)
  })

  it('is refused to pages of other origins, and does not use up the link', async () => {
    const { email } = await newAccount(gateway.databaseUrl)
    const token = await newLink(email)
    expectRefusal(await open(token, { origin: 'https://elsewhere.example' }), 403, 'FORBIDDEN')
    expect((await open(token)).status).toBe(200)
  })

  it('of an account whose address is not verified does not work', async () => {
    const { email, userId } = await newAccount(gateway.databaseUrl)
    await sql(gateway.databaseUrl).query('update users set "emailVerified" = false where id = $1', [userId])
    expectRefusal(await open(await newLink(email)), 403, 'EMAIL_NOT_VERIFIED')
  })

  it('is printed by the operator’s command, for the configured address', async () => {
    const { email } = await newAccount(gateway.databaseUrl)
    const env = { PUBLIC_URL: 'https://gateway.example' }
    const printed = await command(['account', 'link', '--email', email], { databaseUrl: gateway.databaseUrl, env })
    expect(printed).toMatchObject({ code: 0, stderr: '' })
    const [, token] = printed.stdout.match(/^https:\/\/gateway\.example\/sign-in#once=([\w-]{32})\n$/) ?? []
    expect((await open(token as string)).status).toBe(200)
    const unknown = await command(['account', 'link', '--email', 'nobody@example.com'], { databaseUrl: gateway.databaseUrl })
    expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/No account has/) })
  })

  it.each(['0.0.0.0', 'localhost', ...(hasIpv6 ? ['::'] : [])])(
    'of the command works where the gateway listens on %s and has no PUBLIC_URL',
    async (host) => {
      const databaseUrl = await cloneDatabase()
      const env = { HOST: host, PORT: String(await ownPort()) }
      await openGateway({ databaseUrl, env })
      const { email } = await newAccount(databaseUrl)
      const { stdout } = await command(['account', 'link', '--email', email], { databaseUrl, env })
      const { origin, hash } = new URL(stdout)
      const token = hash.replace('#once=', '')
      const opened = await api({ url: origin }).post('/api/auth/login/link', { token }, { origin })
      expect([opened.status, opened.body.data?.user.email]).toEqual([200, email])
    },
  )
})
