// A mail that cannot be ordered is not promised.
import { randomUUID } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { refuse } from '../kit/fault.ts'
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
