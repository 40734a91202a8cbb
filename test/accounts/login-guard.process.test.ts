// The bound on guessing counts failures, and nothing else.
import { beforeAll, describe, expect, it } from 'vitest'
import { refuse } from '../kit/fault.ts'
import { cloneDatabase, command, type Gateway, startGateway } from '../kit/kit.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { logIn, newAccount, newPerson } from './person.ts'

let databaseUrl: string
let gateway: Gateway

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
  gateway = await startGateway({ databaseUrl })
})

const fail = async (email: string, times: number) => {
  for (let i = 0; i < times; i++) expectRefusal(await logIn(gateway, email, 'wrong password'), 401, 'INVALID_CREDENTIALS')
}

describe('a login that was not wrong', () => {
  it('costs no try where the service could not answer it, and gives back none of those that were', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 4)
    const mend = await refuse(databaseUrl, 'insert', 'auth_sessions')
    for (let i = 0; i < 3; i++) expect((await logIn(gateway, email)).status).toBeGreaterThanOrEqual(500)
    await fail(email, 1)
    await mend()
    expectRefusal(await logIn(gateway, email), 429, 'API_RATE_LIMIT_EXCEEDED')
  })

  it('does not stand in the way of others at the same moment', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 4)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(gateway, email)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
  })

  it('does not keep others waiting that failed', async () => {
    const { email } = await newAccount(databaseUrl)
    await fail(email, 5)
    const answers = await Promise.all(Array.from({ length: 8 }, () => logIn(gateway, email)))
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(429))
  })
})

it('is lifted by the operator who sets another password', async () => {
  const { email } = await newPerson(gateway, databaseUrl)
  await fail(email, 5)
  expectRefusal(await logIn(gateway, email), 429, 'API_RATE_LIMIT_EXCEEDED')
  const set = await command(['account', 'password', '--email', email, '--password', 'another horse battery'], { databaseUrl })
  expect(set.code).toBe(0)
  expect((await logIn(gateway, email, 'another horse battery')).status).toBe(200)
})
