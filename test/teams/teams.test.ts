// Teams are created within the plan, read by members, renamed and deleted; to all other people they do not exist.
import { beforeAll, describe, expect, it } from 'vitest'
import { sql } from '../kit/database.ts'
import { moment, nobody, uuid } from '../rest-compat/rig.ts'
import { type Crew, join, newCrew, newPerson, newTeam, openRig, type Rig, subscribe, surfaces } from './rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await openRig()
})

describe.each(surfaces)('teams %s', (_, ask) => {
  let crew: Crew

  beforeAll(async () => {
    crew = await newCrew(rig)
  })

  it('are created with their owner as a member, return every documented field, and are listed oldest first', async () => {
    const person = await newPerson(rig, 'pro')
    const { data } = await ask(person, 'POST /teams', [], { name: 'Support' })
    const team = { id: uuid, name: 'Support', ownerId: person.userId, role: 'owner', membersCount: 1, seats: 4 }
    expect(data).toStrictEqual({ ...team, createdAt: moment, updatedAt: moment })
    const { data: second } = await ask(person, 'POST /teams', [], { name: 'Sales' })
    expect((await ask(person, 'GET /teams')).data).toStrictEqual([data, second])
    expect((await ask(person, 'GET /teams/:teamId', [data.id])).data).toStrictEqual(data)
    expect((await ask(person, 'GET /teams/:teamId/members', [data.id])).data).toStrictEqual([
      { userId: person.userId, email: person.email, name: 'Test', role: 'owner', joinedAt: moment },
    ])
  })

  it('show each member their own role', async () => {
    for (const role of ['owner', 'admin', 'collaborator'] as const) {
      const { data } = await ask(crew[role], 'GET /teams/:teamId', [crew.teamId])
      expect(data).toMatchObject({ id: crew.teamId, ownerId: crew.owner.userId, role, membersCount: 3, seats: 8 })
    }
    expect((await ask(crew.outsider, 'GET /teams')).data).toEqual([])
  })

  it('require a name of 1 to 100 characters', async () => {
    for (const name of [undefined, null, '', 'x'.repeat(101), 5]) {
      const outcome = await ask(crew.owner, 'POST /teams', [], { name })
      expect([outcome.code, outcome.message]).toEqual(['VALIDATION_ERROR', expect.stringMatching(/name: /)])
      expect((await ask(crew.owner, 'PUT /teams/:teamId', [crew.teamId], { name })).code).toBe('VALIDATION_ERROR')
    }
  })

  it('are limited to the number that the plan allows', async () => {
    const plans = { free: 0, pro: 2, max: 4 } as const
    for (const [plan, most] of Object.entries(plans)) {
      const person = await newPerson(rig, plan as keyof typeof plans)
      for (let i = 0; i < most; i++) expect((await ask(person, 'POST /teams', [], { name: `T${i}` })).code).toBe(null)
      expect((await ask(person, 'POST /teams', [], { name: 'One more' })).code).toBe('MAX_TEAMS_REACHED')
    }
  })

  it('stay within the plan limit when twenty are created concurrently', async () => {
    const person = await newPerson(rig, 'max')
    const outcome = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(person, 'POST /teams', [], { name: `T${i}` })))
    expect(outcome.filter(({ code }) => code === null)).toHaveLength(4)
    expect(outcome.filter(({ code }) => code === 'MAX_TEAMS_REACHED')).toHaveLength(16)
    expect((await ask(person, 'GET /teams')).data).toHaveLength(4)
  })

  it('count only against the plan of their owner, and a deleted team frees its place', async () => {
    const person = await newPerson(rig, 'pro')
    await join(rig, (await newTeam(rig, crew.outsider)).teamId, person, 'admin')
    const made = await Promise.all([1, 2].map((n) => ask(person, 'POST /teams', [], { name: `T${n}` })))
    expect((await ask(person, 'POST /teams', [], { name: 'T3' })).code).toBe('MAX_TEAMS_REACHED')
    expect((await ask(person, 'DELETE /teams/:teamId', [made[0]?.data.id])).code).toBe(null)
    expect((await ask(person, 'POST /teams', [], { name: 'T3' })).code).toBe(null)
  })

  it('cannot be created on a cancelled subscription that still runs, nor on an inactive one', async () => {
    const person = await newPerson(rig, 'pro')
    await subscribe(rig, person, 'pro', 'cancelled')
    expect((await ask(person, 'POST /teams', [], { name: 'T' })).code).toBe('MAX_TEAMS_REACHED')
    await subscribe(rig, person, 'pro', 'past_due')
    expect((await ask(person, 'POST /teams', [], { name: 'T' })).code).toBe(null)
    await subscribe(rig, person, 'pro', 'inactive')
    expect((await ask(person, 'POST /teams', [], {})).code).toBe('SUBSCRIPTION_INACTIVE')
    expect((await ask(person, 'GET /teams')).data).toHaveLength(1)
  })

  it('are renamed by owner and admins only', async () => {
    for (const role of ['owner', 'admin'] as const) {
      const { data } = await ask(crew[role], 'PUT /teams/:teamId', [crew.teamId], { name: `By ${role}` })
      expect(data).toMatchObject({ id: crew.teamId, name: `By ${role}`, role })
      expect(data.updatedAt > data.createdAt).toBe(true)
    }
    expect((await ask(crew.collaborator, 'PUT /teams/:teamId', [crew.teamId], { name: 'Mine' })).code).toBe('FORBIDDEN')
  })

  it('are deleted by their owner only, and are gone at once for every member', async () => {
    const { teamId, owner, admin, collaborator } = await newCrew(rig)
    for (const person of [admin, collaborator])
      expect((await ask(person, 'DELETE /teams/:teamId', [teamId])).code).toBe('FORBIDDEN')
    expect((await ask(owner, 'DELETE /teams/:teamId', [teamId])).data).toStrictEqual({ id: teamId, deleted: true })
    for (const person of [owner, admin, collaborator]) {
      expect((await ask(person, 'GET /teams/:teamId', [teamId])).code).toBe('TEAM_NOT_FOUND')
      expect((await ask(person, 'GET /teams')).data).toEqual([])
    }
    expect((await ask(owner, 'DELETE /teams/:teamId', [teamId])).code).toBe('TEAM_NOT_FOUND')
  })

  const perTeam: [route: string, more: readonly string[], body?: unknown][] = [
    ['GET /teams/:teamId', []],
    ['PUT /teams/:teamId', [], { name: 'Mine' }],
    ['DELETE /teams/:teamId', []],
    ['POST /teams/:teamId/leave', []],
    ['GET /teams/:teamId/members', []],
    ['PUT /teams/:teamId/members/:userId', [nobody], { role: 'admin' }],
    ['DELETE /teams/:teamId/members/:userId', [nobody]],
    ['GET /teams/:teamId/invitations', []],
    ['POST /teams/:teamId/invitations', [], { email: 'me@example.com', role: 'admin' }],
    ['DELETE /teams/:teamId/invitations/:id', [nobody]],
    ['GET /teams/:teamId/api-keys', []],
    ['POST /teams/:teamId/api-keys', [], { name: 'Mine' }],
    ['DELETE /teams/:teamId/api-keys/:id', [nobody]],
  ]

  it.each(perTeam)('give an outsider the same bytes as a team that never existed: %s', async (route, more, body) => {
    const deleted = await newTeam(rig, crew.outsider)
    await sql(rig.databaseUrl).query('update teams set "deletedAt" = now() where id = $1', [deleted.teamId])
    const ids = [crew.teamId, nobody, deleted.teamId, 'nonsense', `${nobody}0`]
    const outcome = await Promise.all(ids.map((id) => ask(crew.outsider, route, [id, ...more], body)))
    for (const { code, answer } of outcome) {
      expect(code).toBe('TEAM_NOT_FOUND')
      expect([answer.status, JSON.stringify(answer.body)]).toEqual([
        outcome[0]?.answer.status,
        JSON.stringify(outcome[0]?.answer.body),
      ])
    }
  })

  it.each([['GET /teams', []], ['POST /teams', [], { name: 'T' }], ...perTeam] as typeof perTeam)(
    'are managed with a user token, not with an API key: %s',
    async (route, more, body) => {
      const teams = () => sql(rig.databaseUrl).query('select id from teams where "ownerId" = $1 order by id', [crew.owner.userId])
      const before = await teams()
      const { answer } = await ask({ api: keyOnly(crew) }, route, [crew.teamId, ...more], body)
      const { code } = answer.body.error ?? answer.body.errors[0].extensions
      expect(['UNAUTHORIZED', 'FORBIDDEN']).toContain(code)
      expect((await teams()).rows).toEqual(before.rows)
    },
  )

  /** The owner's client with an API key in place of the user token. */
  function keyOnly({ owner }: Crew) {
    const headers = { 'x-api-key': owner.apiKey, authorization: '' }
    const { api } = owner
    return {
      ...api,
      get: (path: string) => api.get(path, headers),
      post: (path: string, body?: unknown) => api.post(path, body, headers),
      put: (path: string, body?: unknown) => api.put(path, body, headers),
      delete: (path: string, body?: unknown) => api.delete(path, body, headers),
      graphql: (query: string, variables?: Record<string, unknown>) => api.graphql(query, variables, headers),
    }
  }
})
