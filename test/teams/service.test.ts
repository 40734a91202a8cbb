// Creating a team creates its own workspace on the owner's subscription.
import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { createTeam } from '../../src/teams/service.ts'
import { createAccount } from '../kit/accounts.ts'
import { api } from '../kit/api.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'

it('creates a team with a workspace, its owner as a member, and a team key', async () => {
  const url = await cloneDatabase()
  const owner = await createAccount(url, { email: 'owner@example.com' })
  const team = await createTeam(prisma(url), { ownerEmail: 'Owner@example.com', name: 'Support' })
  expect(team.apiKey).toMatch(/^svc_team_[0-9a-f]{64}$/)
  const { rows } = await sql(url).query(
    `select t.name, w."ownerId", m."userId", m.role, k."teamId", k."workspaceId" = w.id as "same"
      from teams t join workspaces w on w.id = t."workspaceId" join team_members m on m."teamId" = t.id
      join api_keys k on k."teamId" = t.id where t.id = $1`,
    [team.teamId],
  )
  const { userId } = owner
  expect(rows).toEqual([{ name: 'Support', ownerId: userId, userId, role: 'owner', teamId: team.teamId, same: true }])
  expect(team.workspaceId).not.toBe(owner.workspaceId)
})

it('creates no rows for a team whose owner is unknown or whose name is empty', async () => {
  const url = await cloneDatabase()
  await createAccount(url, { email: 'owner@example.com' })
  await expect(createTeam(prisma(url), { ownerEmail: 'none@example.com', name: 'T' })).rejects.toMatchObject({
    extensions: { code: 'NOT_FOUND' },
  })
  await expect(createTeam(prisma(url), { ownerEmail: 'owner@example.com', name: '' })).rejects.toThrow(/^name: /)
  expect((await sql(url).query('select from workspaces')).rowCount).toBe(1)
})

it('creates a team whose key works although the subscription of its owner was not created yet, because a process died', async () => {
  const { url, databaseUrl } = commons()
  const [userId, ownerEmail] = [randomUUID(), `${randomUUID()}@example.com`]
  const person = 'insert into users (id, email, name, "emailVerified") values ($1, $2, $2, true)'
  await sql(databaseUrl).query(person, [userId, ownerEmail])
  const { teamId, apiKey } = await createTeam(prisma(databaseUrl), { ownerEmail, name: 'Support' })
  expect((await api({ url }, apiKey).get('instances', { 'x-team-id': teamId })).status).toBe(200)
})
