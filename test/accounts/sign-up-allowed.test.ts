// `SIGNUP` decides who may create an account: anybody, people with an open invitation to a team, or nobody.
import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/core/config/config.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { secretKey } from '../kit/environment.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { invited, newTeam } from '../teams/rig.ts'
import { password } from './person.ts'

let databaseUrl: string

beforeAll(async () => {
  databaseUrl = await cloneDatabase()
})

const newAddress = () => `${randomUUID()}@example.com`

async function signUp(gateway: { url: string }, email: string) {
  const { status, body } = await api(gateway).post('/api/auth/signup', { email, password, name: 'Ada' })
  const { rows } = await sql(databaseUrl).query('select from users where email = $1', [email.toLowerCase()])
  return { status, code: body.error?.code ?? null, message: body.error?.message, accounts: rows.length }
}

describe('SIGNUP', () => {
  it('is `open` with the embedded database and `invited` with DATABASE_URL, by default', () => {
    const of = (env: Record<string, string>) => readConfig(env).config.signUp
    const external = { DATABASE_URL: 'postgres://127.0.0.1/gateway', SECRET_KEY: secretKey }
    expect([of({}), of(external), of({ ...external, SIGNUP: 'open' }), of({ SIGNUP: 'closed' })]).toEqual([
      'open',
      'invited',
      'open',
      'closed',
    ])
    expect(() => of({ SIGNUP: 'maybe' })).toThrow(/SIGNUP: /)
  })

  it('`invited` admits only addresses with an open invitation, and answers others alike, known or not', async () => {
    const gateway = await openGateway({ databaseUrl, env: { SIGNUP: 'invited' } })
    const owner = await createAccount(databaseUrl)
    const rig = { databaseUrl, gateway, mailDir: '' }
    const { teamId } = await newTeam(rig, owner)
    const refused = { status: 403, code: 'FORBIDDEN', message: 'Sign-up needs an invitation' }
    for (const options of [{ status: 'revoked' }, { status: 'accepted' }, { days: -1 }]) {
      const email = newAddress()
      await invited(rig, teamId, email, options)
      expect(await signUp(gateway, email)).toEqual({ ...refused, accounts: 0 })
    }
    expect(await signUp(gateway, newAddress())).toEqual({ ...refused, accounts: 0 })
    expect(await signUp(gateway, owner.email)).toEqual({ ...refused, accounts: 1 })
    const guest = newAddress()
    await invited(rig, teamId, guest)
    expect(await signUp(gateway, guest.toUpperCase())).toMatchObject({ status: 201, accounts: 1 })
    await sql(databaseUrl).query('update teams set "deletedAt" = now() where id = $1', [teamId])
    const late = newAddress()
    await invited(rig, teamId, late)
    expect(await signUp(gateway, late)).toEqual({ ...refused, accounts: 0 })
  })

  it('`closed` admits nobody, and lets people with an account sign in', async () => {
    const gateway = await openGateway({ databaseUrl, env: { SIGNUP: 'closed' } })
    const closed = { status: 403, code: 'FORBIDDEN', message: 'Sign-up is closed', accounts: 0 }
    expect(await signUp(gateway, newAddress())).toEqual(closed)
    const answer = await api(gateway).post('/api/auth/login', { email: newAddress(), password })
    expect(answer.body.error.code).toBe('INVALID_CREDENTIALS')
  })
})
