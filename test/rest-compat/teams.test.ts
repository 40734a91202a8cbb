// REST routes of teams and API keys: their status codes, addresses, and the callers that may use them.
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { api } from '../kit/api.ts'
import { type Crew, invited, newCrew, newPerson, newTeam, openRig, type Rig } from '../teams/rig.ts'
import { addressOf } from './both.ts'
import { expectRefusal, moment, nobody, uuid } from './rig.ts'

/** The routes as the contract lists them. */
const table = `
GET    api-keys
POST   api-keys
DELETE api-keys/:id
GET    teams
POST   teams
GET    teams/:teamId
PUT    teams/:teamId
DELETE teams/:teamId
GET    teams/:teamId/members
PUT    teams/:teamId/members/:userId
DELETE teams/:teamId/members/:userId
GET    teams/:teamId/invitations
POST   teams/:teamId/invitations
DELETE teams/:teamId/invitations/:id
POST   teams/invitations/accept
GET    teams/:teamId/api-keys
POST   teams/:teamId/api-keys
DELETE teams/:teamId/api-keys/:id
POST   teams/:teamId/leave`
  .trim()
  .split('\n')
  .map((line) => line.split(/\s+/) as [method: string, path: string])

const params = { id: nobody, teamId: nobody, userId: nobody }
const ours = /^\/(teams|api-keys)(\/(?!.*\/billing)|$)/

let rig: Rig
let crew: Crew

beforeAll(async () => {
  rig = await openRig()
  crew = await newCrew(rig)
})

it('mounts exactly the routes of the contract, on the console only and outside any workspace', () => {
  const mounted = routes.filter(({ path }) => ours.test(path))
  expect(mounted.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(
    table.map(([method, path]) => `${method} /${path}`).sort(),
  )
  for (const { surfaces, scope } of mounted) expect([surfaces, scope]).toEqual([['console'], 'account'])
})

describe.each(table)('%s %s', (method, path) => {
  const at = addressOf(`/${path}`, { params })
  const ask = (client: ReturnType<typeof api>, prefix: string) =>
    method === 'GET'
      ? client.get(`${prefix}${at}`)
      : client[method.toLowerCase() as 'post' | 'put' | 'delete'](`${prefix}${at}`, {})

  it('is not part of the public API, and needs a token', async () => {
    expectRefusal(await ask(api(rig.gateway, crew.owner.apiKey), '/api/v1'), 404, 'NOT_FOUND')
    for (const client of [api(rig.gateway), api(rig.gateway, crew.owner.apiKey)])
      expectRefusal(await ask(client, '/api'), 401, 'UNAUTHORIZED', 'Missing or invalid token')
  })

  it('refuses other methods with 405', async () => {
    const allowed = table.filter(([, other]) => other === path).map(([name]) => name)
    const other = (['PUT', 'DELETE', 'POST'] as const).find((name) => !allowed.includes(name)) as string
    // A path parameter can match a fixed word of another route, so both share one address.
    const answer = await crew.owner.api[other.toLowerCase() as 'put' | 'delete' | 'post'](`/api${at}`, {})
    expect(answer.status).toBe(405)
    expect(answer.body.error.code).toBe('METHOD_NOT_ALLOWED')
    expect(answer.headers.get('allow')?.split(', ').sort()).toEqual([...allowed].sort())
  })
})

describe('the answer', () => {
  it('has the status of the contract: 201 for a creation, 200 otherwise', async () => {
    const { owner } = await newCrew(rig)
    const guest = await newPerson(rig)
    const made = await owner.api.post('/api/teams', { name: 'Team' })
    const team = `/api/teams/${made.body.data.id}`
    const key = await owner.api.post(`${team}/api-keys`, { name: 'Robot' })
    const invitation = await owner.api.post(`${team}/invitations`, { email: 'x@example.com', role: 'admin' })
    const own = await owner.api.post('/api/api-keys', { name: 'Robot' })
    expect([made, key, invitation, own].map(({ status }) => status)).toEqual([201, 201, 201, 201])
    const { token } = await invited(rig, made.body.data.id, guest.email)
    const rest = [
      await guest.api.post('/api/teams/invitations/accept', { token }),
      await owner.api.put(`${team}/members/${guest.userId}`, { role: 'admin' }),
      await guest.api.post(`${team}/leave`),
      await owner.api.put(team, { name: 'Other' }),
      await owner.api.delete(`${team}/api-keys/${key.body.data.id}`),
      await owner.api.delete(`${team}/invitations/${invitation.body.data.id}`),
      await owner.api.delete(`/api/api-keys/${own.body.data.id}`),
      await owner.api.delete(team),
    ]
    expect(rest.map(({ status }) => status)).toEqual(rest.map(() => 200))
    for (const { headers } of rest) expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
  })

  it('has the status and the code of each refusal', async () => {
    const { teamId, owner, admin, collaborator, outsider } = crew
    const team = `/api/teams/${teamId}`
    expectRefusal(await outsider.api.get(team), 404, 'TEAM_NOT_FOUND')
    expectRefusal(await collaborator.api.put(team, { name: 'X' }), 403, 'FORBIDDEN')
    expectRefusal(await owner.api.post(`${team}/leave`), 409, 'INVALID_STATE')
    expectRefusal(await owner.api.post(`${team}/invitations`, { email: admin.email, role: 'admin' }), 409, 'CONFLICT')
    expectRefusal(await owner.api.post('/api/teams/invitations/accept', { token: 'x' }), 400, 'INVALID_TOKEN')
    expectRefusal(await owner.api.put(team, {}), 400, 'VALIDATION_ERROR', 'name: is required')
    expectRefusal(await owner.api.put(team, []), 400, 'VALIDATION_ERROR')
    const free = await newPerson(rig, 'free')
    expectRefusal(await free.api.post('/api/teams', { name: 'X' }), 403, 'MAX_TEAMS_REACHED')
    expectRefusal(await free.api.post('/api/api-keys', { name: 'X' }), 403, 'MAX_API_KEYS_REACHED')
  })

  it('does not depend on the X-Team-Id header, whichever team it names', async () => {
    const { teamId, owner } = crew
    const others = await newTeam(rig, crew.outsider)
    for (const header of [teamId, others.teamId, nobody, 'nonsense']) {
      const there = owner.inTeam(header)
      for (const path of ['/api/teams', `/api/teams/${teamId}`, '/api/api-keys']) {
        const [one, other] = [await there.get(path), await owner.api.get(path)]
        expect([one.status, one.body]).toEqual([200, other.body])
      }
      const made = await there.graphql('{ teams { id name members { userId } } }')
      expect(made.body.data.teams[0].id).toBe(teamId)
    }
  })

  it('over GraphQL is one tree of teams with their members, invitations and keys; a collaborator sees no keys', async () => {
    const { owner, teamId } = crew
    await newTeam(rig, owner, 'Other')
    const key = { id: uuid, name: 'Robot', prefix: expect.any(String), access: 'full', createdAt: moment, lastUsedAt: null }
    await owner.api.post(`/api/teams/${teamId}/api-keys`, { name: 'Robot' })
    const query =
      '{ teams { id members { role } invitations { status } apiKeys { id name prefix access createdAt lastUsedAt } } }'
    const { body } = await owner.api.graphql(query)
    expect(body.data.teams).toStrictEqual([
      {
        id: teamId,
        members: ['owner', 'admin', 'collaborator'].map((role) => ({ role })),
        invitations: [],
        apiKeys: [key],
      },
      { id: uuid, members: [{ role: 'owner' }], invitations: [], apiKeys: [] },
    ])
    const seen = await crew.collaborator.api.graphql(`{ team(id: "${teamId}") { name apiKeys { id } } }`)
    expect(seen.body.errors[0].extensions.code).toBe('FORBIDDEN')
    expect(JSON.stringify(seen.body)).not.toContain('Robot')
  })
})
