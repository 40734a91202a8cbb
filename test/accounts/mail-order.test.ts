// A mail that cannot be queued is not promised, and the course of a request does not reveal whether a mail is sent.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { hold, refuse } from '../kit/fault.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newAccount, password } from './person.ts'

let databaseUrl: string
let gateway: OpenGateway
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`

it('leaves no account behind when the verification mail cannot be queued', async () => {
  const email = newEmail()
  const mend = await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post('/api/auth/signup', { email, password, name: 'Ada' }), 503, 'SERVICE_UNAVAILABLE')
  expect((await sql(databaseUrl).query('select from users where email = $1', [email])).rowCount).toBe(0)
  await mend()
  expect((await client.post('/api/auth/signup', { email, password, name: 'Ada' })).status).toBe(201)
})

it('refuses a sign-up with a known address when its mail cannot be queued', async () => {
  const { email } = await newAccount(databaseUrl)
  await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post('/api/auth/signup', { email, password, name: 'Ada' }), 503, 'SERVICE_UNAVAILABLE')
})

it.each(['password/forgot', 'verify-email/resend'])('refuses %s when its mail cannot be queued', async (route) => {
  const email = newEmail()
  await client.post('/api/auth/signup', { email, password, name: 'Ada' })
  const mend = await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post(`/api/auth/${route}`, { email }), 503, 'SERVICE_UNAVAILABLE')
  const left = 'select from auth_verifications v join users u on u.id::text = v.value where u.email = $1'
  expect((await sql(databaseUrl).query(left, [email])).rowCount).toBe(0)
  await mend()
  expect((await client.post(`/api/auth/${route}`, { email })).status).toBe(202)
})

it.each([
  ['password/forgot', 'of a known address', async () => (await newAccount(databaseUrl)).email],
  ['password/forgot', 'of nobody’s address', async () => newEmail()],
  ['verify-email/resend', 'of a known address', async () => (await newAccount(databaseUrl)).email],
  ['verify-email/resend', 'of nobody’s address', async () => newEmail()],
])('counts mails under the same lock for every address: %s %s', async (route, _, make) => {
  const email = await make()
  // The table that counts the mails of each address.
  const counts = await hold(databaseUrl, 'insert', 'email_counts')
  const asked = client.post(`/api/auth/${route}`, { email })
  await counts.waits()
  await counts.release()
  expect((await asked).status).toBe(202)
})

it('does not count mails requested for an address before it had an account', async () => {
  const email = newEmail()
  for (let i = 0; i < 6; i++)
    for (const route of ['password/forgot', 'verify-email/resend']) await client.post(`/api/auth/${route}`, { email })
  const mend = await refuse(databaseUrl, 'insert', 'mails')
  const signUp = () => client.post('/api/auth/signup', { email, password, name: 'Ada' })
  expectRefusal(await signUp(), 503, 'SERVICE_UNAVAILABLE')
  await mend()
  expect((await signUp()).status).toBe(201)
  await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post('/api/auth/password/forgot', { email }), 503, 'SERVICE_UNAVAILABLE')
})

it('stores no more password links than mails are sent', async () => {
  const { email, userId } = await newAccount(databaseUrl)
  await Promise.all(Array.from({ length: 12 }, () => client.post('/api/auth/password/forgot', { email })))
  expect((await sql(databaseUrl).query('select from auth_verifications where value = $1', [userId])).rowCount).toBe(5)
})
