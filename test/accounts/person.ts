// People with an account and a password, signed in as in a browser.
import { randomUUID } from 'node:crypto'
import { createAccount as insertAccount } from '../../src/accounts/service.ts'
import { setHashMemory } from '../../src/accounts/sign-in/password.ts'
import type { Account } from '../kit/accounts.ts'
import { type Answer, type Api, api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { cloneDatabase, prisma } from '../kit/database.ts'
import { environment, realHashes } from '../kit/environment.ts'
import { type OpenGateway, openGateways } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'

export const password = 'correct horse battery'

const hashMemoryKib = Number(environment.HASH_MEMORY_KIB)
setHashMemory(hashMemoryKib)

/** Lets this file hash passwords at their real cost, and returns the environment for its gateway. */
export function hashAtRealCost(): typeof realHashes {
  setHashMemory(19_456)
  atEnd('file', async () => setHashMemory(hashMemoryKib))
  return realHashes
}

export type Plan = 'free' | 'pro' | 'max'

export interface Person extends Account {
  /** The access token. */
  token: string
  /** The session cookie, `name=value`. */
  cookie: string
  /** A client with the token; paths begin with a slash. */
  api: Api
  /** A client with the token, in the workspace of that team. */
  inTeam: (teamId: string) => Api
}

/** A verified account with {@link password}, which has not signed in. */
export async function newAccount(databaseUrl: string, plan: Plan = 'max', name = 'Ada'): Promise<Account> {
  return await insertAccount(prisma(databaseUrl), { email: `${randomUUID()}@example.com`, name, plan, password })
}

/** A verified account that is signed in. */
export async function newPerson(gateway: { url: string }, databaseUrl: string, plan?: Plan, name?: string): Promise<Person> {
  return await signIn(gateway, await newAccount(databaseUrl, plan, name))
}

/** Signs an account in once more. */
export async function signIn(gateway: { url: string }, account: Account): Promise<Person> {
  // A gateway that is too busy to answer in time says so, and is asked again.
  const answer = await until(async () => {
    const given = await logIn(gateway, account.email)
    return given.status !== 503 && given
  })
  if (answer.status !== 200) throw new Error(`login was answered ${answer.status} ${JSON.stringify(answer.body)}`)
  const token: string = answer.body.data.accessToken
  const authorization = `Bearer ${token}`
  return {
    ...account,
    token,
    cookie: cookieOf(answer),
    api: api(gateway, undefined, { authorization }),
    inTeam: (teamId) => api(gateway, undefined, { authorization, 'x-team-id': teamId }),
  }
}

export function logIn(gateway: { url: string }, email: string, tried = password): Promise<Answer> {
  return api(gateway).post('/api/auth/login', { email, password: tried })
}

export function cookieOf({ headers }: Answer): string {
  return (headers.getSetCookie()[0] ?? '').split(';', 1)[0] as string
}

/** Two processes of one gateway on their own database, to test what must hold across processes. They end with the test file. */
export async function openTwo(): Promise<{ databaseUrl: string; gateways: [OpenGateway, OpenGateway] }> {
  const databaseUrl = await cloneDatabase()
  const env = { PUBLIC_URL: 'http://gateway.example.com' }
  return { databaseUrl, gateways: await openGateways({ databaseUrl, env }) }
}
