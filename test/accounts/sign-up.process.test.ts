// Signing up: nothing works before the address is proved, and nobody learns whose addresses have accounts.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { slow } from '../kit/fault.ts'
import { type Api, api, cloneDatabase, type Gateway, sql, startGateway, until } from '../kit/kit.ts'
import { welch } from '../kit/welch.ts'
import { expectRefusal, moment, uuid } from '../rest-compat/rig.ts'
import { type Mailbox, openMailbox, textOf } from './mailbox.ts'
import { logIn, newAccount, password } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let gateway: Gateway
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  mailbox = await openMailbox()
  gateway = await startGateway({ databaseUrl, env: { SMTP_URL: mailbox.url, CONSOLE_URL: 'https://console.example.com/' } })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`
const signUp = (email: string, fields: object = {}) =>
  client.post('/api/auth/signup', { email, password, name: 'Ada', ...fields })

describe('signing up', () => {
  it('makes an account that can be used once its address is verified', async () => {
    const email = newEmail()
    const answer = await signUp(email.toUpperCase().replace('EXAMPLE.COM', 'Example.com'))
    expect(answer.status).toBe(201)
    const user = { id: uuid, email, name: 'Ada', emailVerified: false, createdAt: moment }
    expect(answer.body).toStrictEqual({ data: { user } })
    expect(answer.headers.getSetCookie()).toEqual([])
    expectRefusal(await logIn(gateway, email), 403, 'EMAIL_NOT_VERIFIED')

    const token = await mailbox.token(email)
    expect((await client.post('/api/auth/verify-email', { token })).body).toStrictEqual({ data: { verified: true } })
    const login = await logIn(gateway, email)
    expect(login.status).toBe(200)
    expect(login.body.data.user).toStrictEqual({ ...answer.body.data.user, emailVerified: true })
    const { accessToken } = login.body.data
    const me = await client.graphql(
      '{ me { email emailVerified plan { code } } }',
      {},
      { authorization: `Bearer ${accessToken}` },
    )
    expect(me.body.data.me).toEqual({ email, emailVerified: true, plan: { code: 'free' } })
  })

  it('tells in its mail where to go', async () => {
    const email = newEmail()
    await signUp(email)
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toContain('https://console.example.com/verify-email?token=')
    expect(mail.raw).toMatch(/^From: Messaging gateway <gateway@localhost>\r$/m)
  })

  it('gives one workspace and one subscription, however often it is tried at once', async () => {
    const email = newEmail()
    const answers = await Promise.all(Array.from({ length: 5 }, () => signUp(email)))
    expect(answers.map(({ status }) => status)).toEqual([201, 201, 201, 201, 201])
    const { rows } = await sql(databaseUrl).query(
      `select count(distinct u.id)::int as users, count(w.id)::int as workspaces, count(s."userId")::int as subscriptions
        from users u left join workspaces w on w."ownerId" = u.id left join subscriptions s on s."userId" = u.id where u.email = $1`,
      [email],
    )
    expect(rows).toEqual([{ users: 1, workspaces: 1, subscriptions: 1 }])
  })

  it('is made whole by the next request where the process died in the middle of it', async () => {
    const email = newEmail()
    const { id } = (await signUp(email)).body.data.user
    await client.post('/api/auth/verify-email', { token: await mailbox.token(email) })
    for (const [table, owner] of [
      ['workspaces', 'ownerId'],
      ['subscriptions', 'userId'],
    ])
      await sql(databaseUrl).query(`delete from ${table} where "${owner}" = $1`, [id])
    const { accessToken } = (await logIn(gateway, email)).body.data
    const headers = { authorization: `Bearer ${accessToken}` }
    const answers = await Promise.all(Array.from({ length: 5 }, () => client.get('/api/contacts', headers)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    const { rows } = await sql(databaseUrl).query(
      'select plan from workspaces w join subscriptions s on s."userId" = w."ownerId" where w."ownerId" = $1',
      [id],
    )
    expect(rows).toEqual([{ plan: 'free' }])
  })

  it('names every field that is wrong', async () => {
    const answer = await client.post('/api/auth/signup', { email: 'nobody', password: 'short', name: '' })
    const message = 'email: must be an e-mail address; password: must have at least 10 characters; name: must not be empty'
    expectRefusal(answer, 400, 'VALIDATION_ERROR', message)
    const missing = 'email: is required; password: is required; name: is required'
    expectRefusal(await client.post('/api/auth/signup', {}), 400, 'VALIDATION_ERROR', missing)
    expectRefusal(await signUp(newEmail(), { password: 'x'.repeat(129) }), 400, 'VALIDATION_ERROR', /^password: /)
  })

  it('takes nothing from the body that is not asked for', async () => {
    const email = newEmail()
    const fields = { id: randomUUID(), emailVerified: true, plan: 'max', role: 'owner', createdAt: '2020-01-01T00:00:00Z' }
    const answer = await signUp(email, fields)
    expect(answer.body.data.user).toMatchObject({ id: uuid, emailVerified: false })
    expectRefusal(await logIn(gateway, email), 403, 'EMAIL_NOT_VERIFIED')
  })
})

describe('an address that has an account', () => {
  it('is answered like any other, and its owner reads that somebody tried', async () => {
    const { email } = await newAccount(databaseUrl)
    const [known, unknown] = [await signUp(email, { password: 'another password' }), await signUp(newEmail())]
    const shape = ({ status, body: { data } }: typeof known) => ({
      status,
      user: { ...data.user, id: uuid, email: '', createdAt: moment },
    })
    expect(shape(known)).toEqual(shape(unknown))
    // Not even the version of the id tells.
    expect(known.body.data.user.id).toEqual(uuid)
    expect(unknown.body.data.user.id).toEqual(uuid)
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toContain('has an account already')
    // And nothing of the account has changed.
    expect((await logIn(gateway, email)).status).toBe(200)
  })

  it.each(['verify-email/resend', 'password/forgot'])('is answered by %s like any other', async (route) => {
    const { email } = await newAccount(databaseUrl)
    const unverified = newEmail()
    await signUp(unverified)
    const answers = await Promise.all(
      [email, unverified, newEmail()].map((address) => client.post(`/api/auth/${route}`, { email: address })),
    )
    for (const { status, body } of answers)
      expect({ status, body }).toStrictEqual({ status: 202, body: { data: { accepted: true } } })
  })

  // What is done for one of the two alone is slowed down, so that it would show on a machine that others use too.
  it.each([
    ['password/forgot', 'mails'],
    ['verify-email/resend', 'mails'],
    ['signup', 'auth_accounts'],
  ])('takes as long as any other: %s', { timeout: 120_000 }, async (route, table) => {
    const slowerMs = 80
    await slow(databaseUrl, 'insert', table, slowerMs)
    const bestMs = { known: Number.POSITIVE_INFINITY, unknown: Number.POSITIVE_INFINITY }
    // Each at its best, so that what else the machine does is left out; the floor makes them one. No patience hides a slower side.
    const apartMs = () => Math.abs(bestMs.known - bestMs.unknown)
    for (let tries = 0; tries < 12 || (tries < 40 && apartMs() >= slowerMs / 2); tries++) {
      // Each is written to for the first time; resending is of use before the address is verified.
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
  })

  it('takes a wrong password as long to be refused as one of nobody', async () => {
    const accounts = await Promise.all(Array.from({ length: 40 }, () => newAccount(databaseUrl)))
    const times: Record<'known' | 'unknown', number[]> = { known: [], unknown: [] }
    for (const [i, { email }] of accounts.entries()) {
      const kinds = [['known', email] as const, ['unknown', newEmail()] as const]
      // In turns, so that what comes first after the other falls on both alike.
      for (const [who, address] of i % 2 === 0 ? kinds : kinds.toReversed()) {
        const begin = performance.now()
        expect((await logIn(gateway, address, 'a wrong password')).status).toBe(401)
        times[who].push(performance.now() - begin)
      }
    }
    // What the machine does meanwhile falls on single ones. They are those above one bound for both: of lists that were cut each
    // for itself chance alone would make more of a difference than Welch's t knows of.
    const rare = [...times.known, ...times.unknown].sort((a, b) => a - b).at(-8) as number
    const usual = (list: number[]) => list.filter((ms) => ms < rare)
    expect(Math.abs(welch(usual(times.known), usual(times.unknown)))).toBeLessThan(4.5)
  })
})

describe('the mails to one address', () => {
  const forgot = (email: string) => client.post('/api/auth/password/forgot', { email })
  const resend = (email: string) => client.post('/api/auth/verify-email/resend', { email })
  const to = (email: string) => mailbox.mails.filter((mail) => mail.to === email).length
  const sentAll = () => until(async () => (await sql(databaseUrl).query('select from mails')).rowCount === 0)
  /** Makes what was counted for the address older; the other addresses of this file have no more to come. */
  const age = (hours: number) =>
    sql(databaseUrl).query(
      `update email_counts set at = array(select t - make_interval(hours => $1) from unnest(at) t order by 1)`,
      [hours],
    )

  it.each([
    ['of a forgotten password', async () => (await newAccount(databaseUrl)).email, forgot],
    ['of a sign-up', () => signUp(newEmail()).then(({ body }) => body.data.user.email as string), resend],
    [
      'of a sign-up with an address that is known',
      async () => (await newAccount(databaseUrl)).email,
      (email: string) => signUp(email),
    ],
  ])('%s are five in an hour, however many are asked for, and nobody is told', async (_, make, ask) => {
    const email = await make()
    const first = await ask(email)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => ask(i % 2 ? email : email.toUpperCase())))
    for (const { status } of answers) expect(status).toBe(first.status)
    await sentAll()
    expect(to(email)).toBe(5)
    await age(1)
    await ask(email)
    await until(() => to(email) === 6)
  })

  it('are twenty in a day where their links hold as long; a link for a password holds an hour, and there is always another', async () => {
    const email = newEmail()
    await signUp(email)
    for (let hour = 0; hour < 6; hour++) {
      await Promise.all(Array.from({ length: 5 }, () => Promise.all([resend(email), forgot(email)])))
      await age(1)
    }
    await sentAll()
    const about = (page: string) => mailbox.mails.filter((mail) => mail.to === email && textOf(mail).includes(page)).length
    expect([about('/verify-email?'), about('/reset-password?')]).toEqual([20, 30])
  })
})

describe('a token of a mail', () => {
  it.each(['', 'x', 'a.b.c'])('that is none is refused: %j', async (token) => {
    const [status, code] = [400, token === '' ? 'VALIDATION_ERROR' : 'INVALID_TOKEN']
    expectRefusal(await client.post('/api/auth/verify-email', { token }), status, code)
    expectRefusal(await client.post('/api/auth/password/reset', { token, password }), status, code)
  })

  it('comes again on request, and the address is verified by any of them', async () => {
    const email = newEmail()
    await signUp(email)
    await client.post('/api/auth/verify-email/resend', { email })
    const token = await mailbox.token(email, 1)
    expect((await client.post('/api/auth/verify-email', { token })).status).toBe(200)
    expect((await logIn(gateway, email)).status).toBe(200)
  })
})
