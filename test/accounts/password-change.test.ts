// A new password needs the old one or a mail token that works once, and it ends all other sessions.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase } from '../kit/database.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { type Mailbox, openMailbox, textOf, tokenIn } from './mailbox.ts'
import { logIn, newPerson, password, signIn } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let gateway: OpenGateway
let client: Api
const next = 'another horse battery'

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  mailbox = await openMailbox()
  gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  client = api(gateway)
})

const reset = (token: string, to = next) => client.post('/api/auth/password/reset', { token, password: to })

describe('a forgotten password', () => {
  it('is replaced once with the token of the mail, and every session ends', async () => {
    const person = await newPerson(gateway, databaseUrl)
    expect((await client.post('/api/auth/password/forgot', { email: person.email })).status).toBe(202)
    const mail = await until(() => mailbox.mails.find(({ to }) => to === person.email))
    expect(textOf(mail)).toContain(`${gateway.url}/reset-password?token=`)
    const token = await mailbox.token(person.email)
    expectRefusal(await reset(token, 'short'), 400, 'VALIDATION_ERROR', 'password: must have at least 10 characters')
    expect((await reset(token)).body).toStrictEqual({ data: { changed: true } })
    expectRefusal(await reset(token), 400, 'INVALID_TOKEN')
    expectRefusal(await person.api.get('/api/instances'), 401, 'UNAUTHORIZED')
    expectRefusal(await client.post('/api/auth/token', undefined, { cookie: person.cookie }), 401, 'UNAUTHORIZED')
    expectRefusal(await logIn(gateway, person.email), 401, 'INVALID_CREDENTIALS')
    expect((await logIn(gateway, person.email, next)).status).toBe(200)
  })

  it('is replaced once, even under concurrency', async () => {
    const person = await newPerson(gateway, databaseUrl)
    await client.post('/api/auth/password/forgot', { email: person.email })
    const token = await mailbox.token(person.email)
    const answers = await Promise.all(Array.from({ length: 8 }, (_, i) => reset(token, `${next} ${i}`)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)])
    const winner = answers.findIndex(({ status }) => status === 200)
    expect((await logIn(gateway, person.email, `${next} ${winner}`)).status).toBe(200)
  })

  it('is replaced together with the verification of an address that was not yet verified', async () => {
    const email = `${randomUUID()}@example.com`
    await client.post('/api/auth/signup', { email, password, name: 'Ada' })
    await client.post('/api/auth/password/forgot', { email })
    const mail = await until(() => mailbox.mails.find((one) => one.to === email && textOf(one).includes('/reset-password?')))
    expect((await reset(tokenIn(mail))).status).toBe(200)
    expect((await logIn(gateway, email, next)).status).toBe(200)
  })
})

describe('changing the password', () => {
  const change = (person: { api: Api }, currentPassword: unknown, newPassword: unknown = next) =>
    person.api.post('/api/auth/password/change', { currentPassword, newPassword })

  it('keeps the session that sends the request and ends the others', async () => {
    const first = await newPerson(gateway, databaseUrl)
    const second = await signIn(gateway, first)
    expect((await change(second, password)).body).toStrictEqual({ data: { changed: true } })
    expect((await second.api.get('/api/instances')).status).toBe(200)
    expectRefusal(await first.api.get('/api/instances'), 401, 'UNAUTHORIZED')
    expectRefusal(await logIn(gateway, first.email), 401, 'INVALID_CREDENTIALS')
    expect((await logIn(gateway, first.email, next)).status).toBe(200)
  })

  it('requires the current password, a long enough new one, and an access token', async () => {
    const person = await newPerson(gateway, databaseUrl)
    expectRefusal(
      await change(person, 'wrong password'),
      401,
      'INVALID_CREDENTIALS',
      'currentPassword: is not the current password',
    )
    expectRefusal(
      await change(person, password, 'short'),
      400,
      'VALIDATION_ERROR',
      'newPassword: must have at least 10 characters',
    )
    expectRefusal(await change({ api: client }, password), 401, 'UNAUTHORIZED')
    expect((await logIn(gateway, person.email)).status).toBe(200)
  })

  it('accepts one of 128 characters, regardless of the code units of each character', async () => {
    const person = await newPerson(gateway, databaseUrl)
    const emoji = '\u{1f511}'.repeat(128)
    expect((await change(person, password, emoji)).body).toStrictEqual({ data: { changed: true } })
    expect((await logIn(gateway, person.email, emoji)).status).toBe(200)
    expectRefusal(await logIn(gateway, person.email, `${emoji}x`), 400, 'VALIDATION_ERROR', /^password: /)
  })

  it('is subject to the bound on guessing', async () => {
    const person = await newPerson(gateway, databaseUrl)
    for (let i = 0; i < 5; i++) expect((await change(person, 'wrong password')).status).toBe(401)
    expectRefusal(await change(person, password), 429, 'API_RATE_LIMIT_EXCEEDED')
  })
})
