// The bound on password guessing counts failed logins only.
import { beforeAll, describe, expect, it } from 'vitest'
import { command } from '../kit/command.ts'
import { cloneDatabase } from '../kit/database.ts'
import { refuse } from '../kit/fault.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { logIn, newAccount, newPerson } from './person.ts'

let databaseUrl: string
let gateway: OpenGateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await openGateway({ databaseUrl })
})

const fail = async (email: string, times: number) => {
  for (let i = 0; i < times; i++) expectRefusal(await logIn(gateway, email, 'wrong password'), 401, 'INVALID_CREDENTIALS')
}

describe('a login with the right password', () => {
  it('is not counted when the service cannot answer it, and does not reset earlier failures then', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 4)
    const mend = await refuse(databaseUrl, 'insert', 'auth_sessions')
    for (let i = 0; i < 3; i++) expect((await logIn(gateway, email)).status).toBeGreaterThanOrEqual(500)
    await fail(email, 1)
    await mend()
    expectRefusal(await logIn(gateway, email), 429, 'API_RATE_LIMIT_EXCEEDED')
  })

  it('does not block concurrent logins', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 4)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(gateway, email)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  it('is refused under concurrency once the bound is reached', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 5)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(gateway, email)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(429))
  })
})

it('accepts logins again after the operator sets another password', async () => {
  const { email } = await newPerson(gateway, databaseUrl)
  await fail(email, 5)
  expectRefusal(await logIn(gateway, email), 429, 'API_RATE_LIMIT_EXCEEDED')
  const set = await command(['account', 'password', '--email', email, '--password', 'another horse battery'], { databaseUrl })
  expect(set.code).toBe(0)
  expect((await logIn(gateway, email, 'another horse battery')).status).toBe(200)
})
