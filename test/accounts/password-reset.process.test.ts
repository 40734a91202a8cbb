// A new password is set in full or not at all: it ends all old access, and a failed attempt can be retried.
import { beforeAll, describe, expect, it } from 'vitest'
import { setPassword } from '../../src/accounts/service.ts'
import { hashPassword } from '../../src/accounts/sign-in/password.ts'
import { replacePassword } from '../../src/accounts/sign-in/replace-password.ts'
import { lockUser } from '../../src/accounts/users.sql.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { hold, refuse } from '../kit/fault.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { type Mailbox, openMailbox } from './mailbox.ts'
import { logIn, newPerson, type Person, password } from './person.ts'

let databaseUrl: string
let mailbox: Mailbox
let gateway: OpenGateway
let other: OpenGateway
let client: Api
const next = 'another horse battery'

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  mailbox = await openMailbox()
  const env = { SMTP_URL: mailbox.url, PUBLIC_URL: 'http://gateway.example.com' }
  ;[gateway, other] = await openGateways({ databaseUrl, env })
  client = api(gateway)
})

const reset = (token: string) => client.post('/api/auth/password/reset', { token, password: next })

async function forgotten(email: string, n = 0): Promise<string> {
  expect((await client.post('/api/auth/password/forgot', { email })).status).toBe(202)
  return await mailbox.token(email, n)
}

/** Each way to set a new password: the preparation, which returns the step itself. The change runs on the other process. */
const ways: Record<string, (person: Person) => Promise<() => Promise<void>>> = {
  async change(person) {
    const change = { currentPassword: password, newPassword: next }
    const there = api(other, undefined, { authorization: `Bearer ${person.token}` })
    // Warm up: the process loads its token verification with the first token.
    expect((await there.get('/api/instances')).status).toBe(200)
    return async () => {
      expect((await there.post('/api/auth/password/change', change)).status).toBe(200)
    }
  },
  async reset({ email }) {
    const token = await forgotten(email)
    return async () => {
      expect((await reset(token)).status).toBe(200)
    }
  },
  async operator({ email }) {
    return () => setPassword(prisma(databaseUrl), { email, password: next })
  },
}

describe('a reset that fails midway', () => {
  it.each([
    ['update', 'auth_accounts'],
    ['delete', 'auth_sessions'],
    ['update', 'users'],
  ] as const)('changes nothing, and its token works afterwards: %s of %s', async (statement, table) => {
    const person = await newPerson(gateway, databaseUrl)
    const token = await forgotten(person.email)
    const mend = await refuse(databaseUrl, statement, table)
    expectRefusal(await reset(token), 503, 'SERVICE_UNAVAILABLE')
    await mend()
    expect((await person.api.get('/api/instances')).status).toBe(200)
    expect((await logIn(gateway, person.email)).status).toBe(200)
    expect((await reset(token)).status).toBe(200)
    expectRefusal(await person.api.get('/api/instances'), 401, 'UNAUTHORIZED')
  })
})

describe.each(Object.keys(ways))('a new password by %s', (way) => {
  const prepare = ways[way] as (typeof ways)[string]

  it('invalidates every mail that would set another one', async () => {
    const person = await newPerson(gateway, databaseUrl)
    const stranger = await newPerson(gateway, databaseUrl)
    const tokens = [await forgotten(person.email)]
    const theirs = await forgotten(stranger.email)
    if (way === 'reset') {
      tokens.push(await forgotten(person.email, 1))
      expect((await reset(tokens[1] as string)).status).toBe(200)
    } else await (await prepare(person))()
    for (const token of tokens) expectRefusal(await reset(token), 400, 'INVALID_TOKEN')
    expect((await reset(theirs)).status).toBe(200)
  })

  it('ends a login with the old one, however late its session is inserted', async () => {
    const person = await newPerson(gateway, databaseUrl)
    // Prepare first: a login waits for a lock at most five seconds, which a mail or a first request may take.
    const take = await prepare(person)
    const sessions = await hold(databaseUrl, 'insert', 'auth_sessions')
    const late = logIn(gateway, person.email)
    // By now the old password has been accepted.
    await sessions.waits()
    await take()
    await sessions.release()
    expectRefusal(await late, 401, 'INVALID_CREDENTIALS')
    const { rows } = await sql(databaseUrl).query('select id from auth_sessions where "userId" = $1', [person.userId])
    expect(rows).toHaveLength(way === 'change' ? 1 : 0)
    expect((await logIn(gateway, person.email, next)).status).toBe(200)
  })
})

it('makes a concurrent login wait on the row lock and then refuses its old password', async () => {
  const person = await newPerson(gateway, databaseUrl)
  const hash = await hashPassword(next)
  const { login } = await transaction(prisma(databaseUrl), async (tx) => {
    await lockUser(tx, person.userId)
    await replacePassword(tx, { userId: person.userId, email: person.email, hash })
    const login = logIn(gateway, person.email)
    await until(async () => {
      const query = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%for share%'`
      return (await sql(databaseUrl).query(query)).rowCount
    })
    // Returned in an object: the login ends only after the commit.
    return { login }
  })
  expectRefusal(await login, 401, 'INVALID_CREDENTIALS')
  expect((await sql(databaseUrl).query('select from auth_sessions where "userId" = $1', [person.userId])).rowCount).toBe(0)
})
