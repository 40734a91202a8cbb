// Thirty concurrent sign-ups are all answered and mailed, and other requests stay fast meanwhile.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { allowed, measuredAgain } from '../kit/measured.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { openMailbox, textOf } from './mailbox.ts'
import { newAccount, newPerson, password } from './person.ts'

it('answers thirty concurrent sign-ups, mails each address once, and serves other requests promptly', measuredAgain, async () => {
  const databaseUrl = await cloneDatabase()
  const mailbox = await openMailbox()
  const gateway = await openGateway({ databaseUrl, env: { SMTP_URL: mailbox.url } })
  const person = await newPerson(gateway, databaseUrl)
  const known = await Promise.all(Array.from({ length: 10 }, async () => (await newAccount(databaseUrl)).email))
  const unknown = Array.from({ length: 20 }, () => `${randomUUID()}@example.com`)

  let over = false
  const signingUp = Promise.all(
    [...known, ...unknown].map((email) => api(gateway).post('/api/auth/signup', { email, password, name: 'Ada' })),
  ).finally(() => {
    over = true
  })
  const times: number[] = []
  while (!over) {
    const begin = performance.now()
    expect((await person.api.get('/api/contacts')).status).toBe(200)
    times.push(performance.now() - begin)
  }
  expect((await signingUp).map(({ status }) => status)).toEqual(Array(30).fill(201))
  // A connection pool in deadlock with itself would stall for five seconds.
  expect(Math.max(...times)).toBeLessThan(allowed(4_000))

  await until(async () => (await sql(databaseUrl).query('select from mails')).rowCount === 0)
  const outcome = (emails: string[]) =>
    emails.map((email) =>
      mailbox.mails.filter(({ to }) => to === email).map((mail) => textOf(mail).includes('verify-email?token=')),
    )
  expect(outcome(unknown)).toEqual(Array(20).fill([true]))
  expect(outcome(known)).toEqual(Array(10).fill([false]))
})
