// Keys and invitations that somebody creates with a session do not outlive the new password that its owner sets by mail, even if both happen
// at the same time.
import { beforeAll, describe, expect, it } from 'vitest'
import { keepMailToken, newMailToken } from '../../src/accounts/mail/tokens.ts'
import { transaction } from '../../src/core/database/transaction.ts'
import type { Answer } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { expectRefusal } from '../rest-compat/rig.ts'
import { newPerson, newTeam, openOwnRig, type Person, type Rig } from '../teams/rig.ts'

let rig: Rig
let person: Person
let teamId: string

beforeAll(async () => {
  rig = await openOwnRig({ ROLES: 'http' })
})

type Create = () => Promise<Answer>
const ownKey: Create = () => person.api.post('/api/api-keys', { name: 'Bot' })
const teamKey: Create = () => person.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Bot' })
const invitation: Create = () => person.api.post(`/api/teams/${teamId}/invitations`, { email: 'eve@example.com', role: 'admin' })

async function begin(): Promise<void> {
  person = await newPerson(rig)
  teamId = (await newTeam(rig, person)).teamId
}

async function reset(): Promise<Answer> {
  const token = newMailToken()
  await transaction(prisma(rig.databaseUrl), (tx) => keepMailToken(tx, 'reset-password', token, person.userId))
  return await person.api.post('/api/auth/password/reset', { token, password: 'another password' })
}

const left = async () => {
  const { rows } = await sql(rig.databaseUrl).query(
    `select id from api_keys where "userId" = $1 and "revokedAt" is null
     union all select id from team_invitations where "inviterId" = $1 and status = 'pending'`,
    [person.userId],
  )
  return rows
}

describe('a new password by mail', () => {
  it.each<[string, Create]>([
    ['an API key', ownKey],
    ['a key of a team', teamKey],
  ])('revokes %s that is being created', async (_, create) => {
    await begin()
    // The key is inserted, and waits for the row of its workspace.
    const held: [string, string] = ['select from workspaces where "ownerId" = $1 for update', person.userId]
    const [created, changed] = await whileHeld(rig.databaseUrl, held, [create, reset])
    expect([created?.status, changed?.status]).toEqual([201, 200])
    expect(await left()).toEqual([])
  })
})

it.each<[string, Create]>([
  ['an API key', ownKey],
  ['a key of a team', teamKey],
  ['an invitation', invitation],
])('%s is refused if the session ends before it is created', async (_, create) => {
  await begin()
  await sql(rig.databaseUrl).query('update api_keys set "revokedAt" = now() where "userId" = $1', [person.userId])
  const held: [string, string] = ['select from subscriptions where "userId" = $1 for update', person.userId]
  const ending: [string, string] = ['delete from auth_sessions where "userId" = $1', person.userId]
  const [answer] = await whileHeld(rig.databaseUrl, held, [create], ending)
  expectRefusal(answer as Answer, 401, 'UNAUTHORIZED', 'Missing or invalid token')
  expect(await left()).toEqual([])
})
