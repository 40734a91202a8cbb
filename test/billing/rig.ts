// Fixtures of the billing tests: signed-in people, their teams, and billing requests by header, by path and over GraphQL.
import { randomUUID } from 'node:crypto'
import { print } from 'graphql'
import { billingRoutes } from '../../rest-compat/billing.ts'
import type { TeamRole } from '../../src/core/principal.ts'
import { createTeam } from '../../src/teams/service.ts'
import { newPerson, type Person, type Plan } from '../accounts/person.ts'
import type { Answer } from '../kit/api.ts'
import { prisma, sql } from '../kit/database.ts'

export type { Person }

export interface Site {
  databaseUrl: string
  url: string
}

/** A person on a plan, newly signed in. */
export async function openPerson(site: Site, plan: Plan = 'pro'): Promise<Person> {
  return await newPerson(site, site.databaseUrl, plan)
}

/** Creates a team of the owner with these members. */
export async function openTeam(site: Site, owner: Person, members: [Person, TeamRole][] = [], name = 'Team'): Promise<string> {
  const { teamId } = await createTeam(prisma(site.databaseUrl), { ownerEmail: owner.email, name })
  for (const [{ userId }, role] of members) {
    await sql(site.databaseUrl).query('insert into team_members ("teamId", "userId", role) values ($1, $2, $3)', [
      teamId,
      userId,
      role,
    ])
  }
  return teamId
}

/** Inserts an invitation that has not been accepted. */
export async function invite(site: Site, teamId: string, expires = '1 day', status = 'pending'): Promise<void> {
  await sql(site.databaseUrl).query(
    `insert into team_invitations (id, "teamId", email, role, status, "tokenHash", "expiresAt")
     values (gen_random_uuid(), $1, $2, 'admin', $3, decode(md5(random()::text), 'hex'), now() + $4::interval)`,
    [teamId, `${randomUUID()}@example.com`, status, expires],
  )
}

/** The subscription row of a person. */
export async function rowOf(site: Site, { userId }: Pick<Person, 'userId'>) {
  const { rows } = await sql(site.databaseUrl).query('select * from subscriptions where "userId" = $1', [userId])
  return rows[0]
}

export async function checkoutsOf(site: Site, { userId }: Pick<Person, 'userId'>) {
  const { rows } = await sql(site.databaseUrl).query(
    'select id, plan, provider, status, url from checkouts where "userId" = $1 order by "createdAt", id',
    [userId],
  )
  return rows
}

export type Family = 'plans' | 'subscription' | 'usage' | 'payments' | 'checkout' | 'cancel' | 'resume'
export const reads = ['plans', 'subscription', 'usage', 'payments'] as const
export const changes = ['checkout', 'cancel', 'resume'] as const

export interface Decided {
  /** `ok`, or the code of the error. */
  code: string
  message: string | null
  /** The `data` of the REST answer. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what tests are about
  data: any
}

/** One way to send a billing request: for the person's own billing without a team id, else for the team's. */
export type Way = (person: Person, teamId: string | null, family: Family, body?: object) => Promise<Decided>

const isRead = (family: Family) => (reads as readonly string[]).includes(family)

function ofRest({ body }: Answer): Decided {
  return body.error ? { ...body.error, data: null } : { code: 'ok', message: null, data: body.data }
}

async function byRest(person: Person, path: string, family: Family, body: object, headers = {}): Promise<Decided> {
  if (isRead(family)) return ofRest(await person.api.get(path, headers))
  return ofRest(await person.api.post(path, body, headers))
}

export const byHeader: Way = (person, teamId, family, body = { plan: 'max' }) =>
  byRest(person, `/api/billing/${family}`, family, body, teamId ? { 'x-team-id': teamId } : {})

export const byPath: Way = (person, teamId, family, body = { plan: 'max' }) =>
  byRest(person, teamId ? `/api/teams/${teamId}/billing/${family}` : `/api/billing/${family}`, family, body)

/** The GraphQL operation of the route, with the team in the header. */
export const byGraph: Way = async (person, teamId, family, body = { plan: 'max' }) => {
  const row = billingRoutes.find(({ path }) => path === `/billing/${family}`)
  if (!row) throw new Error(`no row for ${family}`)
  const variables = row.variables({ params: {}, query: {}, body: body as Record<string, unknown> })
  const answer = await person.api.graphql(print(row.document), variables, teamId ? { 'x-team-id': teamId } : {})
  const [error] = answer.body.errors ?? []
  if (error) return { code: error.extensions.code, message: error.message, data: null }
  return { code: 'ok', message: null, data: row.project(answer.body.data as never, {} as never) }
}

export const ways: [string, Way][] = [
  ['by the header', byHeader],
  ['by the path', byPath],
  ['in the graph', byGraph],
]
