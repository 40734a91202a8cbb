// Ordering a mail: one that cannot be ordered is not promised, and how it goes tells nobody whether it leaves.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { hold, refuse } from '../kit/fault.ts'
import { type Api, api, cloneDatabase, type Gateway, sql, startGateway } from '../kit/kit.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newAccount, password } from './person.ts'

let databaseUrl: string
let gateway: Gateway
let client: Api

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await startGateway({ databaseUrl })
  client = api(gateway)
})

const newEmail = () => `${randomUUID()}@example.com`

it('leaves nobody behind who signed up for it', async () => {
  const email = newEmail()
  const mend = await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post('/api/auth/signup', { email, password, name: 'Ada' }), 503, 'SERVICE_UNAVAILABLE')
  expect((await sql(databaseUrl).query('select from users where email = $1', [email])).rowCount).toBe(0)
  await mend()
  expect((await client.post('/api/auth/signup', { email, password, name: 'Ada' })).status).toBe(201)
})

it('is refused to whoever has the address already', async () => {
  const { email } = await newAccount(databaseUrl)
  await refuse(databaseUrl, 'insert', 'mails')
  expectRefusal(await client.post('/api/auth/signup', { email, password, name: 'Ada' }), 503, 'SERVICE_UNAVAILABLE')
})

it.each(['password/forgot', 'verify-email/resend'])('is refused by %s, which promises one', async (route) => {
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
])('lets many who ask at once wait for each other: %s %s', async (route, _, make) => {
  const email = await make()
  // Where the mails of an address are counted.
  const counts = await hold(databaseUrl, 'insert', 'email_counts')
  const asked = client.post(`/api/auth/${route}`, { email })
  await counts.waits()
  await counts.release()
  expect((await asked).status).toBe(202)
})

it('costs whoever comes to have the address none of the mails, though somebody asked for them before', async () => {
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

it('leaves no more links to set a password behind than there are mails', async () => {
  const { email, userId } = await newAccount(databaseUrl)
  await Promise.all(Array.from({ length: 12 }, () => client.post('/api/auth/password/forgot', { email })))
  expect((await sql(databaseUrl).query('select from auth_verifications where value = $1', [userId])).rowCount).toBe(5)
})
