// Proves the permissions for accounts, teams and billing: every route that only the console has, for every role, on both
// surfaces.
import { beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../rest-compat/routes.ts'
import { type ErrorCode, errors } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import { password } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { sql } from '../kit/database.ts'
import {
  type Crew,
  invited,
  join,
  newCrew,
  newPerson,
  openOwnRig,
  type Person,
  type Rig,
  subscribe,
  surfaces,
} from '../teams/rig.ts'

const roles = ['owner', 'admin', 'collaborator', 'outsider'] as const
type Who = (typeof roles)[number]
type Code = ErrorCode | null

interface Line {
  route: string
  /** The values of the path parameters, created anew for each role. */
  params?: (crew: Crew) => Promise<string[]>
  body?: () => object
  /** The answer to each role: an error code, or null for success. */
  codes: [owner: Code, admin: Code, collaborator: Code, outsider: Code]
}

const [missing, forbidden, mutation] = ['TEAM_NOT_FOUND', 'FORBIDDEN', 'BILLING_TEAM_MUTATION_FORBIDDEN'] as const
const payments = 'BILLING_PAYMENTS_TEAM_OWNER_ONLY'
const everybody: Line['codes'] = [null, null, null, null]
const members: Line['codes'] = [null, null, null, missing]
const managers: Line['codes'] = [null, null, forbidden, missing]

let rig: Rig

const team = async ({ teamId }: Crew) => [teamId]
const member = async ({ teamId }: Crew) => {
  const person = await newPerson(rig)
  await join(rig, teamId, person, 'collaborator')
  return [teamId, person.userId]
}
const invitation = async ({ teamId }: Crew) => [teamId, (await invited(rig, teamId, `${newId()}@example.com`)).id]
const teamKey = async ({ teamId, workspaceId, owner }: Crew) => [teamId, await keyOf(owner.userId, workspaceId, teamId)]
const named = () => ({ name: 'Another name' })

const table: Line[] = [
  { route: 'GET /teams', codes: everybody },
  { route: 'POST /teams', body: named, codes: everybody },
  { route: 'GET /teams/:teamId', params: team, codes: members },
  { route: 'PUT /teams/:teamId', params: team, body: named, codes: managers },
  { route: 'DELETE /teams/:teamId', params: team, codes: [null, forbidden, forbidden, missing] },
  { route: 'POST /teams/:teamId/leave', params: team, codes: ['INVALID_STATE', null, null, missing] },
  { route: 'GET /teams/:teamId/members', params: team, codes: members },
  { route: 'PUT /teams/:teamId/members/:userId', params: member, body: () => ({ role: 'admin' }), codes: managers },
  { route: 'DELETE /teams/:teamId/members/:userId', params: member, codes: managers },
  { route: 'GET /teams/:teamId/invitations', params: team, codes: managers },
  {
    route: 'POST /teams/:teamId/invitations',
    params: team,
    body: () => ({ email: `${newId()}@example.com`, role: 'collaborator' }),
    codes: managers,
  },
  { route: 'DELETE /teams/:teamId/invitations/:id', params: invitation, codes: managers },
  // An invalid token is refused alike for every role.
  {
    route: 'POST /teams/invitations/accept',
    body: () => ({ token: 'x' }),
    codes: ['INVALID_TOKEN', 'INVALID_TOKEN', 'INVALID_TOKEN', 'INVALID_TOKEN'],
  },
  { route: 'GET /teams/:teamId/api-keys', params: team, codes: managers },
  { route: 'POST /teams/:teamId/api-keys', params: team, body: named, codes: managers },
  { route: 'DELETE /teams/:teamId/api-keys/:id', params: teamKey, codes: managers },
  { route: 'DELETE /me', body: () => ({ password }), codes: everybody },
  { route: 'GET /api-keys', codes: everybody },
  { route: 'POST /api-keys', body: named, codes: everybody },
  // Another person's key is reported as not found.
  {
    route: 'DELETE /api-keys/:id',
    params: async ({ owner }) => [await keyOf(owner.userId, owner.workspaceId, null)],
    codes: [null, 'NOT_FOUND', 'NOT_FOUND', 'NOT_FOUND'],
  },
  { route: 'GET /teams/:teamId/billing/plans', params: team, codes: [null, null, null, missing] },
  { route: 'GET /teams/:teamId/billing/subscription', params: team, codes: managers },
  { route: 'GET /teams/:teamId/billing/usage', params: team, codes: managers },
  { route: 'GET /teams/:teamId/billing/payments', params: team, codes: [null, payments, payments, missing] },
  {
    route: 'POST /teams/:teamId/billing/checkout',
    params: team,
    body: () => ({ plan: 'max' }),
    codes: [null, mutation, mutation, missing],
  },
  // The team of the crew itself blocks the cancellation.
  {
    route: 'POST /teams/:teamId/billing/cancel',
    params: team,
    codes: ['PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS', mutation, mutation, missing],
  },
  { route: 'POST /teams/:teamId/billing/resume', params: team, codes: ['INVALID_STATE', mutation, mutation, missing] },
  { route: 'POST /billing/checkout', body: () => ({ plan: 'max' }), codes: everybody },
  { route: 'POST /billing/cancel', codes: ['PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS', null, null, null] },
  { route: 'POST /billing/resume', codes: ['INVALID_STATE', 'INVALID_STATE', 'INVALID_STATE', 'INVALID_STATE'] },
]

const isOfTeamBilling = (route: string) => route.includes('/billing/') && route.includes(':teamId')

beforeAll(async () => {
  rig = await openOwnRig({ ROLES: 'http' })
})

it('covers every route that only the console has', () => {
  const alone = routes.filter((route) => 'document' in route && !route.surfaces.includes('public'))
  expect(table.map(({ route }) => route).sort()).toEqual(alone.map(({ method, path }) => `${method} ${path}`).sort())
})

async function keyOf(userId: string, workspaceId: string, teamId: string | null): Promise<string> {
  const id = newId()
  await sql(rig.databaseUrl).query(
    `insert into api_keys (id, "userId", "workspaceId", "teamId", name, prefix, hash) values ($1::uuid, $2, $3, $4, 'Key', 'svc', sha256($1::text::bytea))`,
    [id, userId, workspaceId, teamId],
  )
  return id
}

describe.each(surfaces)('each console route %s', (surface, ask) => {
  it.each(table)('grants each role exactly its permissions: $route', async ({ route, params, body, codes }) => {
    // With a plan, each role has something to order and to cancel, and quota for all that is created.
    const crew = await newCrew(rig)
    if (route.includes('/billing/')) for (const role of roles) await subscribe(rig, crew[role], 'pro')
    // The owner goes last: their request may delete the team.
    const decided: Partial<Record<Who, Code>> = {}
    for (const role of roles.toReversed()) {
      const values = (await params?.(crew)) ?? []
      const outcome = await ask(clientOf(crew, crew[role], route), route, values, body?.())
      decided[role] = outcome.code as Code
      if (surface === 'over REST') {
        const status = outcome.code ? errors[outcome.code as ErrorCode].status : (rowOf(route)?.status as number)
        expect(outcome.answer.status).toBe(status)
      }
    }
    // In GraphQL every person may read the plan catalogue, whatever team the header names.
    const isCatalogue = surface === 'over GraphQL' && route.endsWith('/billing/plans')
    expect(roles.map((role) => decided[role])).toEqual(isCatalogue ? everybody : codes)
  })

  /** In GraphQL the header says whose billing is meant; in REST the path does. */
  function clientOf({ teamId }: Crew, person: Person, route: string): Pick<Person, 'api'> {
    return surface === 'over GraphQL' && isOfTeamBilling(route) ? { api: person.inTeam(teamId) } : person
  }

  it('is refused to personal and team keys, except for billing reads in GraphQL', async () => {
    const { teamId, owner } = await newCrew(rig)
    const made = await owner.api.post(`/api/teams/${teamId}/api-keys`, named())
    const personal = api(rig.gateway, owner.apiKey)
    const ofTeam = api(rig.gateway, made.body.data.key, { 'x-team-id': teamId })
    for (const { route, body } of table) {
      const outcome = await Promise.all([personal, ofTeam].map((key) => ask({ api: key }, route, [teamId, newId()], body?.())))
      const codes = outcome.map(({ code }) => code)
      expect([route, codes]).toEqual([route, surface === 'over REST' ? ['UNAUTHORIZED', 'UNAUTHORIZED'] : inGraph(route)])
    }
  })

  /** In GraphQL, a personal key reads the billing of its own account, and every key reads the plan catalogue. */
  function inGraph(route: string): [personal: Code, ofTeam: Code] {
    if (route.endsWith('/billing/plans')) return [null, null]
    const isBilling = route.includes('/billing/')
    return [isBilling && route.startsWith('GET ') ? null : forbidden, isBilling ? 'TEAM_KEY_NOT_ALLOWED' : forbidden]
  }
})

function rowOf(route: string): { status: number } | undefined {
  return routes.find(({ method, path }) => `${method} ${path}` === route) as { status: number } | undefined
}
