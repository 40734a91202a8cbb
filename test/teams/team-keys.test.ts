// API keys of a team: who creates and sees them, where they work, and the plan that limits them.
import { beforeAll, describe, expect, it } from 'vitest'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import { moment, nobody, uuid } from '../rest-compat/rig.ts'
import { join, newCrew, newTeam, openRig, type Rig, subscribe, surfaces } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

describe.each(surfaces)("a team's keys %s", (_, ask) => {
  const create = (who: Parameters<typeof ask>[0], teamId: string, name: unknown = 'Robot') =>
    ask(who, 'POST /teams/:teamId/api-keys', [teamId], { name })

  it('are created, listed and revoked by owner and admins, shown in full once, and work only with the team id', async () => {
    const { teamId, workspaceId, owner, admin } = await newCrew(rig)
    for (const person of [owner, admin]) {
      const { data } = await create(person, teamId)
      const { key, ...record } = data
      expect(record).toStrictEqual({
        id: uuid,
        name: 'Robot',
        prefix: key.slice(0, 16),
        access: 'full',
        createdAt: moment,
        lastUsedAt: null,
      })
      expect(key).toMatch(/^svc_team_[0-9a-f]{64}$/)
      expect((await ask(person, 'GET /teams/:teamId/api-keys', [teamId])).data).toStrictEqual([record])
      const { rows } = await sql(rig.databaseUrl).query('select "userId", "workspaceId" from api_keys where id = $1', [data.id])
      expect(rows).toEqual([{ userId: person.userId, workspaceId }])
      expect((await api(rig.gateway, key, { 'x-team-id': teamId }).get('contacts')).status).toBe(200)
      expect((await api(rig.gateway, key).get('contacts')).status).toBe(401)
      const gone = await ask(person, 'DELETE /teams/:teamId/api-keys/:id', [teamId, data.id])
      expect(gone.data).toStrictEqual({ id: data.id, deleted: true })
      expect((await api(rig.gateway, key, { 'x-team-id': teamId }).get('contacts')).status).toBe(401)
      expect((await ask(person, 'DELETE /teams/:teamId/api-keys/:id', [teamId, data.id])).code).toBe('NOT_FOUND')
    }
  })

  it('are refused to collaborators for every operation', async () => {
    const { teamId, owner, collaborator } = await newCrew(rig)
    const { data } = await create(owner, teamId)
    expect((await create(collaborator, teamId)).code).toBe('FORBIDDEN')
    expect((await ask(collaborator, 'GET /teams/:teamId/api-keys', [teamId])).code).toBe('FORBIDDEN')
    expect((await ask(collaborator, 'DELETE /teams/:teamId/api-keys/:id', [teamId, data.id])).code).toBe('FORBIDDEN')
  })

  it('belong to one team only', async () => {
    const { teamId, owner } = await newCrew(rig)
    const other = await newTeam(rig, owner)
    const { data } = await create(owner, other.teamId)
    const own = (await ask(owner, 'GET /api-keys')).data[0].id
    for (const id of [data.id, own, nobody])
      expect((await ask(owner, 'DELETE /teams/:teamId/api-keys/:id', [teamId, id])).code).toBe('NOT_FOUND')
    expect((await ask(owner, 'GET /teams/:teamId/api-keys', [teamId])).data).toEqual([])
  })

  it("are limited over all teams by the owner's plan, not by the plan of the member who creates them", async () => {
    const { teamId, owner, admin } = await newCrew(rig, 'pro')
    const other = await newTeam(rig, owner)
    await join(rig, other.teamId, admin, 'admin')
    const made = await Promise.all([owner, admin].flatMap((who) => [teamId, other.teamId].map((id) => create(who, id))))
    expect(made.map(({ code }) => code)).toEqual([null, null, null, null])
    for (const id of [teamId, other.teamId]) expect((await create(admin, id)).code).toBe('MAX_API_KEYS_REACHED')
    expect((await ask(admin, 'POST /api-keys', [], { name: 'Own' })).code).toBe(null)
    expect((await ask(owner, 'DELETE /teams/:teamId/api-keys/:id', [teamId, made[0]?.data.id])).code).toBe(null)
    expect((await create(owner, other.teamId)).code).toBe(null)
    await subscribe(rig, owner, 'pro', 'inactive')
    expect((await create(owner, other.teamId)).code).toBe('SUBSCRIPTION_INACTIVE')
  })
})
