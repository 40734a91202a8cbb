// A one-time link whose account gets a new password, or ends, while the link is opened begins no session.
import { expect, it } from 'vitest'
import { setPassword } from '../../src/accounts/service.ts'
import { identity } from '../../src/accounts/sign-in/identity.ts'
import { makeSignInLink } from '../../src/accounts/sign-in/link.ts'
import { endAccount } from '../../src/teams/end-account.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { type InnerGateway, openGateway } from '../kit/open-gateway.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newAccount } from './person.ts'

type Person = Awaited<ReturnType<typeof newAccount>>

const ways: [name: string, change: (gateway: InnerGateway, person: Person) => Promise<void>][] = [
  ['a new password', ({ app }, { email }) => setPassword(app.db, { email, password: 'another password' })],
  ['the end of the account', ({ app }, { userId }) => endAccount(app, userId)],
]

it.each(ways)('%s', async (_, change) => {
  const databaseUrl = await cloneDatabase()
  const gateway = await openGateway({ databaseUrl, env: { ROLES: 'http' } })
  const person = await newAccount(databaseUrl)
  const link = await makeSignInLink(prisma(databaseUrl), { email: person.email, base: gateway.url })
  const auth = await identity(gateway.app).auth()
  const begin = auth.api.signInDirectly
  Object.assign(auth.api, {
    signInDirectly: async (...request: Parameters<typeof begin>) => {
      await change(gateway, person)
      return await begin(...request)
    },
  })
  const answer = await api(gateway).post('/api/auth/login/link', { token: link.split('#once=')[1] })
  expectRefusal(answer, 400, 'INVALID_TOKEN')
  expect(answer.headers.getSetCookie()).toEqual([])
  expect((await sql(databaseUrl).query('select from auth_sessions')).rowCount).toBe(0)
})
