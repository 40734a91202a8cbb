// Team membership: changes of role, removal, leaving, and the permissions of each role.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { whileHeld } from '../kit/held.ts'
import { moment, nobody } from '../rest-compat/rig.ts'
import { type Ask, join, newCrew, newPerson, openRig, type Rig, surfaces } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

const member = (ask: Ask, who: Parameters<Ask>[0], teamId: string, userId: string, body: unknown) =>
  ask(who, 'PUT /teams/:teamId/members/:userId', [teamId, userId], body)

describe.each(surfaces)('members %s', (_, ask) => {
  it('are listed to every member in the order of joining', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    const members = [owner, admin, collaborator].map(({ userId, email }, i) => {
      return { userId, email, name: 'Test', role: ['owner', 'admin', 'collaborator'][i], joinedAt: moment }
    })
    for (const person of [owner, admin, collaborator])
      expect((await ask(person, 'GET /teams/:teamId/members', [teamId])).data).toStrictEqual(members)
  })

  it('get roles from owner and admins, and hold them from the next request on', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    const { data } = await member(ask, admin, teamId, collaborator.userId, { role: 'admin' })
    expect(data).toStrictEqual({
      userId: collaborator.userId,
      email: collaborator.email,
      name: 'Test',
      role: 'admin',
      joinedAt: moment,
    })
    expect((await ask(collaborator, 'GET /teams/:teamId/invitations', [teamId])).code).toBe(null)
    // A new admin may demote the admin who promoted them.
    expect((await member(ask, collaborator, teamId, admin.userId, { role: 'collaborator' })).data.role).toBe('collaborator')
    expect((await ask(admin, 'GET /teams/:teamId/invitations', [teamId])).code).toBe('FORBIDDEN')
    expect((await member(ask, owner, teamId, collaborator.userId, { role: 'collaborator' })).code).toBe(null)
  })

  it('cannot change anything as collaborators', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    for (const { userId } of [owner, admin, collaborator, { userId: nobody }]) {
      expect((await member(ask, collaborator, teamId, userId, { role: 'collaborator' })).code).toBe('FORBIDDEN')
      expect((await ask(collaborator, 'DELETE /teams/:teamId/members/:userId', [teamId, userId])).code).toBe('FORBIDDEN')
    }
  })

  it('never become owners and never change their own role', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    for (const role of ['owner', 'king', '', null, undefined, 5]) {
      const outcome = await member(ask, owner, teamId, collaborator.userId, { role })
      expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(/role: /)])
    }
    expect((await member(ask, admin, teamId, admin.userId, { role: 'collaborator' })).code).toBe('INVALID_STATE')
    expect((await member(ask, owner, teamId, owner.userId, { role: 'admin' })).code).toBe('INVALID_STATE')
  })

  it('cannot demote or remove the owner, and the owner cannot leave', async () => {
    const { teamId, owner, admin } = await newCrew(rig)
    expect((await member(ask, admin, teamId, owner.userId, { role: 'collaborator' })).code).toBe('INVALID_STATE')
    for (const person of [owner, admin])
      expect((await ask(person, 'DELETE /teams/:teamId/members/:userId', [teamId, owner.userId])).code).toBe('INVALID_STATE')
    expect((await ask(owner, 'POST /teams/:teamId/leave', [teamId])).code).toBe('INVALID_STATE')
    expect((await ask(owner, 'GET /teams/:teamId', [teamId])).data).toMatchObject({ role: 'owner', membersCount: 3 })
  })

  it('that do not exist are not found, and malformed ids are refused by field name', async () => {
    const { teamId, owner, outsider } = await newCrew(rig)
    for (const id of [outsider.userId, nobody]) {
      expect((await member(ask, owner, teamId, id, { role: 'admin' })).code).toBe('NOT_FOUND')
      expect((await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, id])).code).toBe('NOT_FOUND')
    }
    const outcome = await ask(owner, 'DELETE /teams/:teamId/members/:userId', [teamId, 'x'])
    expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', 'userId: must be a UUID'])
  })

  it('lose access by token on both surfaces at the next request after removal or leaving', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    const other = await newPerson(rig)
    await join(rig, teamId, other, 'admin')
    for (const person of [admin, collaborator]) expect((await person.inTeam(teamId).get('/api/contacts')).status).toBe(200)
    const removed = await ask(other, 'DELETE /teams/:teamId/members/:userId', [teamId, admin.userId])
    expect(removed.data).toStrictEqual({ id: admin.userId, deleted: true })
    expect((await ask(collaborator, 'POST /teams/:teamId/leave', [teamId])).data).toStrictEqual({ id: teamId, left: true })
    for (const person of [admin, collaborator]) {
      const { status, body } = await person.inTeam(teamId).get('/api/contacts')
      expect([status, body.error.code]).toEqual([404, 'TEAM_NOT_FOUND'])
      const graph = await person.inTeam(teamId).graphql('{ contacts { nodes { id } } }')
      expect(graph.body.errors[0].extensions.code).toBe('TEAM_NOT_FOUND')
      expect((await ask(person, 'GET /teams/:teamId', [teamId])).code).toBe('TEAM_NOT_FOUND')
      expect((await ask(person, 'POST /teams/:teamId/leave', [teamId])).code).toBe('TEAM_NOT_FOUND')
      expect((await person.api.get('/api/contacts')).status).toBe(200)
    }
    expect((await ask(owner, 'GET /teams/:teamId', [teamId])).data.membersCount).toBe(2)
  })

  it('are judged by the role that they hold once the lock is acquired, not when they sent the request', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    const outcome = await whileHeld(
      rig.databaseUrl,
      ['select from teams where id = $1 for update', teamId],
      [() => ask(admin, 'DELETE /teams/:teamId/members/:userId', [teamId, collaborator.userId])],
      [`update team_members set role = 'collaborator' where "userId" = $1`, admin.userId],
    )
    expect(outcome.map(({ code }) => code)).toEqual(['FORBIDDEN'])
    expect((await ask(owner, 'GET /teams/:teamId', [teamId])).data.membersCount).toBe(3)
  })

  it('leave only once when they send twenty requests concurrently', async () => {
    const { teamId, owner, collaborator } = await newCrew(rig)
    const outcome = await Promise.all(Array.from({ length: 20 }, () => ask(collaborator, 'POST /teams/:teamId/leave', [teamId])))
    expect(outcome.map(({ code }) => code).sort()).toEqual([...Array(19).fill('TEAM_NOT_FOUND'), null].sort())
    expect((await ask(owner, 'GET /teams/:teamId/members', [teamId])).data).toHaveLength(2)
  })
})

it('hides fields of a replayed response that a removed or demoted member may no longer read', async () => {
  const { teamId, owner, admin } = await newCrew(rig)
  const nested = 'name members { email } invitations { email } apiKeys { name }'
  const repeat = async (fields: string) => {
    const query = `mutation { updateTeam(id: "${teamId}", input: { name: "Ours" }) { ${fields} } }`
    const { body, headers } = await admin.api.graphql(query, {}, { 'idempotency-key': fields })
    return { body, code: body.errors?.[0].extensions.code ?? null, replayed: headers.get('idempotency-replayed') }
  }
  const parts = ['name', 'role members { email }', 'role invitations { email }', 'role apiKeys { name }', nested]
  for (const fields of parts) expect(await repeat(fields)).toMatchObject({ code: null, replayed: null })
  const codes = async () => {
    const outcome = await Promise.all(parts.map(repeat))
    for (const { body, replayed } of outcome) expect([JSON.stringify(body).includes('@'), replayed]).toEqual([false, 'true'])
    return outcome.map(({ code }) => code)
  }
  expect((await repeat('role members { email }')).body.data.updateTeam.members).toHaveLength(3)
  await sql(rig.databaseUrl).query(`update team_members set role = 'collaborator' where "userId" = $1`, [admin.userId])
  expect((await repeat('role members { email }')).body.data.updateTeam.members).toHaveLength(3)
  for (const fields of parts.slice(2)) expect(await repeat(fields)).toMatchObject({ code: 'FORBIDDEN', body: { data: null } })
  expect((await owner.api.delete(`/api/teams/${teamId}/members/${admin.userId}`)).status).toBe(200)
  expect(await codes()).toEqual([null, ...Array(4).fill('TEAM_NOT_FOUND')])
})
