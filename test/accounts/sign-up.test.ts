// Sign-up gives no access before the address is verified, and never reveals which addresses have accounts.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal, moment, uuid } from '../rest-compat/rig.ts'
import { type Mailbox, openMailbox, textOf } from './mailbox.ts'
import { logIn, newAccount, password } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let gateway: OpenGateway
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  mailbox = await openMailbox()
  gateway = await openGateway({
    databaseUrl,
    env: { SMTP_URL: mailbox.url, CONSOLE_URL: 'https://console.example.com/' },
  })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`
const signUp = (email: string, fields: object = {}) =>
  client.post('/api/auth/signup', { email, password, name: 'Ada', ...fields })

describe('signing up', () => {
  it('creates an account that can be used once its address is verified', async () => {
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

  it('mails a link to the console', async () => {
    const email = newEmail()
    await signUp(email)
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toContain('https://console.example.com/verify-email?token=')
    expect(mail.raw).toMatch(/^From: Messaging gateway <gateway@localhost>\r$/m)
  })

  it('creates one workspace and one subscription, even under concurrency', async () => {
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

  it('is completed by the next request when the process died midway', async () => {
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

  it('names every invalid field', async () => {
    const answer = await client.post('/api/auth/signup', { email: 'nobody', password: 'short', name: '' })
    const message = 'email: must be an e-mail address; password: must have at least 10 characters; name: must not be empty'
    expectRefusal(answer, 400, 'VALIDATION_ERROR', message)
    const missing = 'email: is required; password: is required; name: is required'
    expectRefusal(await client.post('/api/auth/signup', {}), 400, 'VALIDATION_ERROR', missing)
    expectRefusal(await signUp(newEmail(), { password: 'x'.repeat(129) }), 400, 'VALIDATION_ERROR', /^password: /)
  })

  it('ignores unknown fields in the body', async () => {
    const email = newEmail()
    const fields = { id: randomUUID(), emailVerified: true, plan: 'max', role: 'owner', createdAt: '2020-01-01T00:00:00Z' }
    const answer = await signUp(email, fields)
    expect(answer.body.data.user).toMatchObject({ id: uuid, emailVerified: false })
    expectRefusal(await logIn(gateway, email), 403, 'EMAIL_NOT_VERIFIED')
  })
})

describe('an address that has an account', () => {
  it('is answered like any other, and its owner is mailed about the attempt', async () => {
    const { email } = await newAccount(databaseUrl)
    const [known, unknown] = [await signUp(email, { password: 'another password' }), await signUp(newEmail())]
    const shape = ({ status, body: { data } }: typeof known) => ({
      status,
      user: { ...data.user, id: uuid, email: '', createdAt: moment },
    })
    expect(shape(known)).toEqual(shape(unknown))
    // The version of the id must not reveal it either.
    expect(known.body.data.user.id).toEqual(uuid)
    expect(unknown.body.data.user.id).toEqual(uuid)
    const mail = await until(() => mailbox.mails.find(({ to }) => to === email))
    expect(textOf(mail)).toContain('already exists')
    // The account itself is unchanged.
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
})

describe('the mails to one address', () => {
  const forgot = (email: string) => client.post('/api/auth/password/forgot', { email })
  const resend = (email: string) => client.post('/api/auth/verify-email/resend', { email })
  const to = (email: string) => mailbox.mails.filter((mail) => mail.to === email).length
  const sentAll = () => until(async () => (await sql(databaseUrl).query('select from mails')).rowCount === 0)
  /** Ages the counts of all addresses; earlier tests of this file no longer need theirs. */
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
  ])('%s are limited to five in an hour, and the answers do not show the limit', async (_, make, ask) => {
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

  it('about verification are limited to 20 in a day, because their links hold a day; password mails are not', async () => {
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
  it.each(['', 'x', 'a.b.c'])('is refused when it is invalid: %j', async (token) => {
    const [status, code] = [400, token === '' ? 'VALIDATION_ERROR' : 'INVALID_TOKEN']
    expectRefusal(await client.post('/api/auth/verify-email', { token }), status, code)
    expectRefusal(await client.post('/api/auth/password/reset', { token, password }), status, code)
  })

  it('is sent again on request, and the address is verified by the later one', async () => {
    const email = newEmail()
    await signUp(email)
    await client.post('/api/auth/verify-email/resend', { email })
    const token = await mailbox.token(email, 1)
    expect((await client.post('/api/auth/verify-email', { token })).status).toBe(200)
    expect((await logIn(gateway, email)).status).toBe(200)
  })
})
