// Every kind of person who may use the console, each with one of every resource in the workspace.
import type { Route } from '../../rest-compat/route.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { createTeam } from '../../src/teams/service.ts'
import { newPerson, type Person } from '../accounts/person.ts'
import { api } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'
import { furnish } from '../rest-compat/things.ts'
import type { Caller, Site } from './callers.ts'

export type Role = 'owner' | 'admin' | 'collaborator'

/** An API client of the console routes with that token, in that team's workspace. */
export function consoleApi(site: { url: string }, token: string | undefined, teamId?: string): Caller['api'] {
  const headers = { ...(token && { authorization: `Bearer ${token}` }), ...(teamId && { 'x-team-id': teamId }) }
  return api(site, undefined, headers, '/api/')
}

async function openPerson(site: Site): Promise<Caller & { person: Person }> {
  const person = await newPerson(site, site.databaseUrl)
  const things = await furnish(site.databaseUrl, person, api(site, person.apiKey))
  return { account: person, api: consoleApi(site, person.token), things, person }
}

export interface Team {
  teamId: string
  workspaceId: string
  owner: Person
}

export async function openTeam(site: Site): Promise<Team> {
  const owner = await newPerson(site, site.databaseUrl)
  const team = await createTeam(prisma(site.databaseUrl), { ownerEmail: owner.email, name: 'Team' })
  return { ...team, owner }
}

/** A member of a team with that role, in the team's workspace. */
export async function openMember(site: Site, role: Role): Promise<Caller & { person: Person; team: Team }> {
  const team = await openTeam(site)
  const person = role === 'owner' ? team.owner : await join(site, team, role)
  const account = { userId: person.userId, workspaceId: team.workspaceId, apiKey: '' }
  const own = consoleApi(site, person.token, team.teamId)
  // The owner creates the resources: a collaborator may not create all of them.
  const things = await furnish(site.databaseUrl, { ...person, ...account }, consoleApi(site, team.owner.token, team.teamId))
  return { account, api: own, things, person, team }
}

async function join(site: Site, { teamId }: Team, role: Role): Promise<Person> {
  const person = await newPerson(site, site.databaseUrl)
  await sql(site.databaseUrl).query(`insert into team_members ("teamId", "userId", role) values ($1, $2, $3)`, [
    teamId,
    person.userId,
    role,
  ])
  return person
}

/** Routes that only an owner or admin of a team may use. */
const managers = [
  'POST /instances',
  'PUT /instances/:id',
  'POST /instances/:id/logout',
  'DELETE /instances/:id',
  'POST /webhooks',
  'PUT /webhooks/:id',
  'DELETE /webhooks/:id',
  'POST /webhooks/:id/rotate-secret',
  'POST /webhooks/:id/test',
  'POST /webhooks/:id/deliveries/:deliveryId/redeliver',
]
/** Billing routes that a collaborator may not read. */
const money = ['GET /billing/subscription', 'GET /billing/usage', 'GET /usage']

const forbidden: Record<Role, (route: string) => ErrorCode | null> = {
  owner: () => null,
  admin: (route) => (route === 'GET /billing/payments' ? 'BILLING_PAYMENTS_TEAM_OWNER_ONLY' : null),
  collaborator: (route) => {
    if (route === 'GET /billing/payments') return 'BILLING_PAYMENTS_TEAM_OWNER_ONLY'
    return [...managers, ...money].includes(route) ? 'FORBIDDEN' : null
  },
}

const routeOf = ({ method, path }: Route) => `${method} ${path}`
const member = (role: Role): (typeof people)[number] => [
  `a team's ${role}`,
  (site) => openMember(site, role),
  (row) => forbidden[role](routeOf(row)),
]

/**
 * Each: a kind of person, and what a route answers a valid request about resources of that workspace: an error code, or null
 * for success.
 */
export const people: [name: string, open: (site: Site) => Promise<Caller>, expected: (row: Route) => ErrorCode | null][] = [
  ['a person', openPerson, () => null],
  member('owner'),
  member('admin'),
  member('collaborator'),
  [
    'an outsider to the team',
    async (site) => {
      const { person, ...caller } = await openPerson(site)
      return { ...caller, api: consoleApi(site, person.token, (await openTeam(site)).teamId) }
    },
    ({ scope }) => (scope === 'open' ? null : 'TEAM_NOT_FOUND'),
  ],
  [
    'somebody who was in the team until now',
    async (site) => {
      const { team, person, ...caller } = await openMember(site, 'admin')
      await sql(site.databaseUrl).query('delete from team_members where "teamId" = $1 and "userId" = $2', [
        team.teamId,
        person.userId,
      ])
      return caller
    },
    ({ scope }) => (scope === 'open' ? null : 'TEAM_NOT_FOUND'),
  ],
  [
    'somebody who signed out',
    async (site) => {
      const { person, ...caller } = await openPerson(site)
      await person.api.post('/api/auth/logout')
      return caller
    },
    () => 'UNAUTHORIZED',
  ],
]
