// Fixtures of the team tests: signed-in people, teams with members, and one function that sends a request over REST or GraphQL.
import { createHash, randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import type { Route } from '../../rest-compat/route.ts'
import { routes } from '../../rest-compat/routes.ts'
import { newId } from '../../src/core/id.ts'
import { type Person, type Plan, newPerson as signedIn } from '../accounts/person.ts'
import type { Answer, Api } from '../kit/api.ts'
import { atEnd } from '../kit/at-end.ts'
import { commons } from '../kit/commons.ts'
import { cloneDatabase, sql } from '../kit/database.ts'
import { type Gateway, startGateway } from '../kit/gateway.ts'
import { type OpenGateway, openGateway } from '../kit/open-gateway.ts'
import { until } from '../kit/until.ts'
import { addressOf, askGraph, graphDecision, restDecision } from '../rest-compat/both.ts'

export type { Person }

export interface Rig {
  databaseUrl: string
  gateway: { url: string }
  /** The directory that mails are written to. */
  mailDir: string
}

export type Role = 'owner' | 'admin' | 'collaborator'

/** The gateway that the whole test run shares. */
export function openRig(): Rig {
  const { url, databaseUrl, dataDir } = commons()
  return { databaseUrl, gateway: { url }, mailDir: path.join(dataDir, 'mail') }
}

/** A gateway with its own database and data directory, for tests that would disturb others. */
export async function openOwnRig(env: Record<string, string> = {}): Promise<Rig & { gateway: OpenGateway }> {
  return await ownRig(openGateway, env)
}

/** The same with a child process, for tests that kill it. */
export async function openProcessRig(env: Record<string, string> = {}): Promise<Rig & { gateway: Gateway }> {
  return await ownRig(startGateway, env)
}

async function ownRig<G extends OpenGateway>(
  start: (options: { databaseUrl: string; env: Record<string, string> }) => Promise<G>,
  env: Record<string, string>,
): Promise<Rig & { gateway: G }> {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), 'gateway-test-teams-'))
  atEnd('file', async () => rmSync(dataDir, { recursive: true, force: true }))
  const databaseUrl = await cloneDatabase()
  const gateway = await start({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', DATA_DIR: dataDir, ...env } })
  return { databaseUrl, gateway, mailDir: path.join(dataDir, 'mail') }
}

/** A person with an account, signed in. */
export async function newPerson(rig: Rig, plan: Plan = 'max', name = 'Test'): Promise<Person> {
  return await signedIn(rig.gateway, rig.databaseUrl, plan, name)
}

export interface Crew {
  teamId: string
  workspaceId: string
  owner: Person
  admin: Person
  collaborator: Person
  outsider: Person
}

/** A team with one member of each role, and a person who is not in it. */
export async function newCrew(rig: Rig, plan: Plan = 'max'): Promise<Crew> {
  const [owner, admin, collaborator, outsider] = (await Promise.all(
    Array.from({ length: 4 }, (_, i) => newPerson(rig, i === 0 ? plan : 'max')),
  )) as [Person, Person, Person, Person]
  const { teamId, workspaceId } = await newTeam(rig, owner)
  await join(rig, teamId, admin, 'admin')
  await join(rig, teamId, collaborator, 'collaborator')
  return { teamId, workspaceId, owner, admin, collaborator, outsider }
}

/** Inserts a team as rows, regardless of what the plan allows. */
export async function newTeam(
  rig: Rig,
  owner: Pick<Person, 'userId'>,
  name = 'Team',
): Promise<{ teamId: string; workspaceId: string }> {
  const [teamId, workspaceId] = [newId(), newId()]
  await sql(rig.databaseUrl).query(
    `with w as (insert into workspaces (id, "ownerId") values ($2, $3)),
       t as (insert into teams (id, "workspaceId", "ownerId", name) values ($1, $2, $3, $4))
     insert into team_members ("teamId", "userId", role) values ($1, $3, 'owner')`,
    [teamId, workspaceId, owner.userId, name],
  )
  return { teamId, workspaceId }
}

/** Adds a member who joined later than every present member, even within one millisecond. */
export async function join(rig: Pick<Rig, 'databaseUrl'>, teamId: string, { userId }: Person, role: Role): Promise<void> {
  await sql(rig.databaseUrl).query(
    `insert into team_members ("teamId", "userId", role, "joinedAt") values ($1, $2, $3,
       (select greatest(now(), max("joinedAt") + interval '1 millisecond') from team_members where "teamId" = $1))`,
    [teamId, userId, role],
  )
}

/** Inserts an invitation as a row (pending unless options say otherwise); returns its id and token. */
export async function invited(
  rig: Rig,
  teamId: string,
  email: string,
  { role = 'collaborator', status = 'pending', days = 7 }: { role?: Role; status?: string; days?: number } = {},
): Promise<{ id: string; token: string }> {
  const [id, token] = [newId(), randomBytes(32).toString('base64url')]
  await sql(rig.databaseUrl).query(
    `insert into team_invitations (id, "teamId", email, role, status, "tokenHash", "expiresAt")
     values ($1, $2, $3, $4, $5, $6, now() + make_interval(days => $7))`,
    [id, teamId, email, role, status, createHash('sha256').update(token).digest(), days],
  )
  return { id, token }
}

/** The mails sent to an address so far, oldest first. */
export function mailsTo(rig: Rig, email: string): string[] {
  const names = readdirSync(rig.mailDir).filter((name) => name.endsWith('.txt'))
  return names
    .sort()
    .map((name) => readFileSync(path.join(rig.mailDir, name), 'utf8'))
    .filter((text) => text.startsWith(`To: ${email}\n`))
}

/** Waits for a mail to an address and returns the token of the last one. */
export async function tokenTo(rig: Rig, email: string): Promise<string> {
  return await until(() => /token=([\w-]+)/.exec(mailsTo(rig, email).at(-1) ?? '')?.[1])
}

export async function subscribe(rig: Rig, { userId }: Person, plan: string, status = 'active'): Promise<void> {
  await sql(rig.databaseUrl).query('update subscriptions set plan = $2, status = $3 where "userId" = $1', [userId, plan, status])
}

/** The outcome of a request: the error code of a refusal, or a null code and the data. */
export interface Told {
  code: string | null
  message: string | null
  // biome-ignore lint/suspicious/noExplicitAny: an answer's shape is what tests are about
  data: any
  answer: Answer
}

/** Sends one console route, such as `POST /teams/:teamId/leave`, with its path parameters in order and its body. */
export type Ask = (who: { api: Api }, route: string, params?: readonly string[], body?: unknown) => Promise<Told>

function find(route: string): Route {
  const [method, at] = route.split(' ')
  return routes.find((one) => one.method === method && one.path === at && one.surfaces.includes('console')) as Route
}

function paramsOf(row: Route, values: readonly string[]): Record<string, string> {
  const names = [...row.path.matchAll(/:(\w+)/g)].map(([, name]) => name as string)
  return Object.fromEntries(names.map((name, i) => [name, values[i] as string]))
}

const askRest: Ask = async (who, route, values = [], body) => {
  const row = find(route)
  const url = `/api${addressOf(row.path, { params: paramsOf(row, values) })}`
  const answer =
    row.method === 'GET'
      ? await who.api.get(url)
      : await who.api[row.method.toLowerCase() as 'post' | 'put' | 'delete'](url, body)
  return { ...restDecision(answer), answer }
}

const askGraphql: Ask = async (who, route, values = [], body) => {
  const row = find(route)
  const asked = { params: paramsOf(row, values), body }
  const answer = await askGraph(who.api, row, asked)
  return { ...graphDecision(row, asked, answer), answer }
}

/** REST and GraphQL, for `describe.each`. */
export const surfaces: [name: string, ask: Ask][] = [
  ['over REST', askRest],
  ['over GraphQL', askGraphql],
]
