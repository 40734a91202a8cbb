// Admission of API keys. One statement per batch turns keys into principals, takes from the one-second rate window and counts the request.

import { keyHash } from '../../accounts/service.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { failure } from '../../core/errors.ts'
import type { Scope } from '../../core/graph/prepared.ts'
import { definePart } from '../../core/part.ts'
import type { Principal } from '../../core/principal.ts'
import { planInForceSql, plans } from '../plans.ts'
import { keyUse } from './last-used.ts'
import { thisMonth } from './quota.ts'
import { type RateState, rateOf, stepMs, windowsSql } from './rate-window.ts'

export interface KeyRequest {
  /** The `x-api-key` header. */
  key: unknown
  /** The `X-Team-Id` header. */
  teamId: unknown
  scope: Exclude<Scope, 'account'>
}

export interface Admission {
  /** The caller, or null with the error of the rejection. */
  principal: Principal | null
  error: Error | null
  /** Null for a caller without a valid key. For a person it is set only on a rejection by the rate limiter. */
  rate: RateState | null
  /** Seconds until a retry makes sense; set on a 429. */
  retryAfter: number | null
}

interface Asked {
  hash: Buffer
  teamId: string | null
  scope: KeyRequest['scope']
}

interface Row {
  i: number
  verdict: 'ok' | 'UNAUTHORIZED' | 'TEAM_KEY_REQUIRED' | 'TEAM_KEY_NOT_ALLOWED'
  keyId: string
  userId: string
  workspaceId: string
  teamId: string | null
  ownerId: string
  plan: string
  active: boolean
  /** How many of the group's requests the rate window let through, and how full it is. */
  granted: number
  used: number
  /** How many of those the monthly quota let through. */
  counted: number
  untilNextMonth: number
}

const keyForm = /^svc_(live|team)_[0-9a-f]{64}$/

/** True if the value has the form of a key. Any other value is rejected without a database query. */
function isKey(value: unknown): value is string {
  return typeof value === 'string' && keyForm.test(value)
}

/** Returns `admit(request)`: exact across all processes, without a cache, so that a revoked key is rejected at once. */
export const admitKeys = definePart(createAdmission)

function createAdmission(app: App): (request: KeyRequest) => Promise<Admission> {
  const batch = createBatch<Asked, Admission>({
    max: 500,
    parallel: 2,
    run: (asked) => admitAll(app, asked),
    observe: (size) => app.metrics.batchSize.observe({ batch: 'admit' }, size),
  })
  return async (request) => {
    if (!isKey(request.key)) return refusal('UNAUTHORIZED')
    const hash = keyHash(request.key)
    const teamId = request.teamId === undefined ? null : String(request.teamId).toLowerCase()
    return await batch({ hash, teamId, scope: request.scope })
  }
}

function refusal(code: 'UNAUTHORIZED' | 'TEAM_KEY_REQUIRED' | 'TEAM_KEY_NOT_ALLOWED'): Admission {
  return { principal: null, error: failure(code), rate: null, retryAfter: null }
}

/** Takes a request out of the month's count again, if the rules of keys and teams rejected it after its admission. */
export async function uncount(app: App, { ownerId }: Principal): Promise<void> {
  await app.quickPool.query(
    `update api_usage set "apiRequestsCount" = greatest(0, "apiRequestsCount" - 1) where "userId" = $1 and period = ${thisMonth}`,
    [ownerId],
  )
}

interface Group extends Asked {
  members: number[]
}

async function admitAll(app: App, asked: readonly Asked[]): Promise<Admission[]> {
  const groups = new Map<string, Group>()
  for (const [index, request] of asked.entries()) {
    const name = `${request.hash.toString('latin1')} ${request.scope} ${request.teamId}`
    const group = groups.get(name)
    if (group) group.members.push(index)
    else groups.set(name, { ...request, members: [index] })
  }
  const list = [...groups.values()]
  const rows = await runStatement(app, list)
  const answers: (Admission | undefined)[] = asked.map(() => undefined)
  for (const row of rows) {
    const group = list[row.i - 1] as Group
    if (row.verdict === 'ok') keyUse(app).note(row.keyId)
    for (const [position, index] of group.members.entries()) answers[index] = answerOf(app, row, position)
  }
  return answers.map((answer) => answer ?? refusal('UNAUTHORIZED'))
}

function answerOf(app: App, row: Row, position: number): Admission {
  if (row.verdict === 'UNAUTHORIZED') return refusal(row.verdict)
  const limit = app.config.rateLimitPerSecond
  const rate = rateOf(limit, { ...row, position })
  if (row.verdict !== 'ok') return { ...refusal(row.verdict), rate }
  if (position >= row.granted) {
    return { principal: null, error: failure('API_RATE_LIMIT_EXCEEDED'), rate: { ...rate, remaining: 0 }, retryAfter: 1 }
  }
  if (position >= row.counted) {
    const error = failure('MONTHLY_API_REQUEST_QUOTA_EXCEEDED')
    return { principal: null, error, rate, retryAfter: row.untilNextMonth }
  }
  const { keyId, userId, workspaceId, teamId, ownerId, plan, active } = row
  const kind = teamId ? 'team' : 'personal'
  const principal: Principal = { credentialId: keyId, kind, userId, workspaceId, teamId, role: null, ownerId, plan, active }
  return { principal, error: null, rate, retryAfter: null }
}

// One row per group. Keys that are used outside of their scope take nothing and only get the state of their rate window. Both tables
// (rate_windows, api_usage) are locked in the order of their primary keys, and the grouping between them completes the first before the
// second begins.
const statement = `
with asked as (
  select i::int, hash, team, scope, n from unnest($1::bytea[], $2::text[], $3::text[], $4::int[]) with ordinality as u(hash, team, scope, n, i)
), known as (
  select a.i, a.n, k.id, k."userId", k."workspaceId", k."teamId", w."ownerId",
    ${planInForceSql('s')} as plan,
    s.status <> 'inactive' as active,
    case
      when k."teamId" is null then case when a.team is not null and a.scope in ('workspace', 'both') then 'TEAM_KEY_REQUIRED' else 'ok' end
      when a.team is null or a.team <> k."teamId"::text then 'UNAUTHORIZED'
      when a.scope in ('personal', 'both') then 'TEAM_KEY_NOT_ALLOWED'
      else 'ok'
    end as verdict
  from asked a
  join api_keys k on k.hash = a.hash and k."revokedAt" is null
  join workspaces w on w.id = k."workspaceId"
  join subscriptions s on s."userId" = w."ownerId"
), ${windowsSql(
  `select id, sum(case when verdict = 'ok' then n else 0 end) as n from known where verdict <> 'UNAUTHORIZED' group by id`,
  5,
  8,
)}, shares as (
  select k.*, w.used, greatest(0, least(k.n, w.granted - (sum(k.n) over (partition by k.id order by k.i) - k.n)))::int as granted
  from known k join windows w on w.id = k.id where k.verdict = 'ok'
), owners as (
  select s."ownerId", p.quota, least(sum(s.granted), p.quota)::int as granted
  from shares s join unnest($6::text[], $7::int[]) as p(plan, quota) on p.plan = s.plan group by s."ownerId", p.quota
), budgets as (
  insert into api_usage as u ("userId", period, "apiRequestsCount", granted)
  select "ownerId", ${thisMonth}, granted, granted from owners where granted > 0 order by "ownerId"
  on conflict ("userId", period) do update set ("apiRequestsCount", granted) = (
    select u."apiRequestsCount" + g.granted, g.granted
    from (
      select greatest(0, least(excluded.granted, o.quota - u."apiRequestsCount")) as granted
      from owners o where o."ownerId" = excluded."userId"
    ) g
  )
  returning "userId", granted
)
select k.i, k.verdict, k.id as "keyId", k."userId", k."workspaceId", k."teamId", k."ownerId", k.plan, k.active,
  coalesce(s.granted, 0) as granted,
  coalesce(s.used, (select w.used from windows w where w.id = k.id), 0) as used,
  coalesce(greatest(0, least(s.granted, b.granted - (sum(s.granted) over (partition by s."ownerId" order by k.i) - s.granted))), 0)::int as counted,
  ceil(extract(epoch from date_trunc('month', now() at time zone 'utc') + interval '1 month' - now() at time zone 'utc'))::int as "untilNextMonth"
from known k left join shares s on s.i = k.i left join budgets b on b."userId" = s."ownerId"`

async function runStatement(app: App, groups: readonly Group[]): Promise<Row[]> {
  const { rows } = await app.quickPool.query<Row>({
    name: 'billing.admit',
    text: statement,
    values: [
      groups.map((group) => group.hash),
      groups.map((group) => group.teamId),
      groups.map((group) => group.scope),
      groups.map((group) => group.members.length),
      app.config.rateLimitPerSecond,
      plans.map((plan) => plan.code),
      plans.map((plan) => plan.limits.monthlyApiRequestQuota),
      stepMs(app.config.rateLimitPerSecond),
    ],
  })
  return rows
}
