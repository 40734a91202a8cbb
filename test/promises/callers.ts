// Every kind of API caller, each with one of every resource in its workspace, and the answer that each route owes it.
import type { Route } from '../../rest-compat/route.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { newId } from '../../src/core/id.ts'
import { createTeam } from '../../src/teams/service.ts'
import { type Account, createAccount } from '../kit/accounts.ts'
import { type Api, api } from '../kit/api.ts'
import { cloneDatabase, prisma, sql } from '../kit/database.ts'
import { openGateway } from '../kit/open-gateway.ts'
import { errorsOf } from '../rest-compat/shown.ts'
import { furnish, type Things } from '../rest-compat/things.ts'

export interface Site {
  databaseUrl: string
  url: string
}

export interface Caller {
  account: Pick<Account, 'userId' | 'workspaceId' | 'apiKey'>
  api: Api
  things: Things
}

/** Starts a gateway with the HTTP role only: without background work, a request sees exactly what the one before it left. */
export async function openSite(): Promise<Site> {
  const databaseUrl = await cloneDatabase()
  const { url } = await openGateway({ databaseUrl, env: { RATE_LIMIT_PER_SECOND: '100000', ROLES: 'http' } })
  return { databaseUrl, url }
}

/** A caller with a personal key, on the largest plan. */
export async function openCaller(site: Site): Promise<Caller> {
  return await settle(site, await createAccount(site.databaseUrl))
}

/** A caller in a team's workspace, with the team's key. */
async function openTeam(site: Site): Promise<Caller & { teamId: string }> {
  const owner = await createAccount(site.databaseUrl)
  const team = await createTeam(prisma(site.databaseUrl), { ownerEmail: owner.email, name: 'Team' })
  const { teamId } = team
  return { ...(await settle(site, { ...owner, ...team }, { 'x-team-id': teamId })), teamId }
}

async function settle(site: Site, account: Account, headers?: Record<string, string>): Promise<Caller> {
  const own = api(site, account.apiKey, headers)
  return { account, api: own, things: await furnish(site.databaseUrl, account, own) }
}

/** The same caller, with these headers on every request. */
function withHeaders(site: Site, caller: Caller, headers: Record<string, string>): Caller {
  return { ...caller, api: api(site, caller.account.apiKey, headers) }
}

/** A caller whose rows are changed afterwards by these statements, which select its account and workspace from `one`. */
async function openAfter(site: Site, ...changes: string[]): Promise<Caller> {
  const caller = await openCaller(site)
  const { userId, workspaceId } = caller.account
  for (const change of changes) {
    const query = `with one as (select $1::uuid as account, $2::uuid as workspace) ${change}`
    await sql(site.databaseUrl).query(query, [userId, workspaceId])
  }
  return caller
}

/** This month and the next, which may begin during the test. */
const months = `generate_series(date_trunc('month', now() at time zone 'utc'), now() at time zone 'utc' + interval '1 month', '1 month') month`
const inactive = `update subscriptions set status = 'inactive' where "userId" = (select account from one)`
const noRequests = `insert into api_usage ("userId", period, "apiRequestsCount") select account, month::date, 500000 from one, ${months}
  on conflict ("userId", period) do update set "apiRequestsCount" = 500000`
const nothingLeft = [
  `update subscriptions set plan = 'free' where "userId" = (select account from one)`,
  `insert into usage ("userId", period, "messagesCount", "plannedCount") select account, month::date, 500, 200000 from one, ${months}
    on conflict ("userId", period) do update set "messagesCount" = 500, "plannedCount" = 200000`,
  `insert into contact_groups (id, "workspaceId", name)
    select gen_random_uuid(), workspace, i::text from one, generate_series(3, 10) i`,
  `insert into webhook_endpoints (id, "workspaceId", url, events, secret)
    select gen_random_uuid(), workspace, url, events, secret from webhook_endpoints, one, generate_series(2, 3)
    where "workspaceId" = workspace`,
]

const always = (code: ErrorCode) => () => code
/** Errors that a route gives only about a resource that rests or was stopped, which none of these callers has. */
const whileItRests: Record<string, readonly ErrorCode[]> = {
  'POST /instances/:id/connect': ['MAX_INSTANCES_REACHED'],
  'PUT /webhooks/:id': ['MAX_WEBHOOK_ENDPOINTS_REACHED', 'SUBSCRIPTION_INACTIVE'],
}
const ifTold = (form: RegExp) => (row: Route) => {
  const rare = whileItRests[`${row.method} ${row.path}`] ?? []
  return errorsOf(row).find((code) => form.test(code) && !rare.includes(code)) ?? null
}

/**
 * Each: a kind of caller, and what a route answers its valid request about its own resources: an error code, or null for
 * success.
 */
export const callers: [name: string, open: (site: Site) => Promise<Caller>, expected: (row: Route) => ErrorCode | null][] = [
  ['a personal key', openCaller, () => null],
  [
    'a personal key with a team',
    async (site) => withHeaders(site, await openCaller(site), { 'x-team-id': newId() }),
    ({ scope }) => (scope === 'workspace' ? 'TEAM_KEY_REQUIRED' : null),
  ],
  ['a team key', openTeam, ({ scope }) => (scope === 'personal' ? 'TEAM_KEY_NOT_ALLOWED' : null)],
  ['a team key without its team', async (site) => withHeaders(site, await openTeam(site), {}), always('UNAUTHORIZED')],
  [
    'a team key with another team',
    async (site) => withHeaders(site, await openTeam(site), { 'x-team-id': (await openTeam(site)).teamId }),
    always('UNAUTHORIZED'),
  ],
  ['no subscription', (site) => openAfter(site, inactive), ifTold(/^SUBSCRIPTION_INACTIVE$/)],
  [
    'a plan with nothing left',
    (site) => openAfter(site, ...nothingLeft),
    ifTold(/^(MAX_(?!API_KEYS)\w+_REACHED|MONTHLY_OUTBOUND_QUOTA_EXCEEDED)$/),
  ],
  ['no requests left', (site) => openAfter(site, noRequests), always('MONTHLY_API_REQUEST_QUOTA_EXCEEDED')],
]

/** Returns true if the gateway reports this error before it examines the content of the request. */
export function comesFirst(code: ErrorCode | null): boolean {
  return code !== null && !/^(MAX_\w+|MONTHLY_OUTBOUND_QUOTA_EXCEEDED)$/.test(code)
}
