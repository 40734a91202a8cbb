// SQL of the admission of API keys: one statement for each batch of requests.
import type { Sql } from '../../core/database/database.ts'
import type { Scope } from '../../core/graph/prepared.ts'
import type { KeyAccess } from '../../core/principal.ts'
import { planInForceSql, plans } from '../plans.ts'
import { periodEndSql, periodOfUserSql, periodSql } from './period.ts'
import { windowsSql } from './rate-window.sql.ts'
import { stepMs } from './rate-window.ts'

/** Requests with the same key, scope, access and team. */
export interface Group {
  hash: Buffer
  teamId: string | null
  scope: Exclude<Scope, 'account'>
  /** The access that suffices, comma-separated. */
  access: string
  /** Positions of the requests in their batch. */
  members: number[]
}

export interface Admitted {
  i: number
  verdict: 'ok' | 'UNAUTHORIZED' | 'TEAM_KEY_REQUIRED' | 'TEAM_KEY_NOT_ALLOWED' | 'FORBIDDEN' | 'MAX_API_KEYS_REACHED'
  keyId: string
  userId: string
  workspaceId: string
  teamId: string | null
  ownerId: string
  plan: string
  active: boolean
  access: KeyAccess
  /** How many of the group's requests the rate window let through, and how full it is. */
  granted: number
  used: number
  /** How many of those the monthly quota let through. */
  counted: number
  untilRenewal: number
}

const admit = `
with asked as (
  select i::int, hash, team, scope, n, access
  from unnest($1::bytea[], $2::text[], $3::text[], $4::int[], $9::text[]) with ordinality as u(hash, team, scope, n, access, i)
), known as (
  select a.i, a.n, k.id, k."userId", k."workspaceId", k."teamId", w."ownerId",
    ${planInForceSql('s')} as plan,
    s.status <> 'inactive' as active, k.access, ${periodSql('s')} as period, ${periodEndSql('s')} as "periodEnd",
    case
      when k."teamId" is null and a.team is not null and a.scope in ('workspace', 'both') then 'TEAM_KEY_REQUIRED'
      when k."teamId" is not null and (a.team is null or a.team <> k."teamId"::text) then 'UNAUTHORIZED'
      when k."teamId" is not null and a.scope in ('personal', 'both') then 'TEAM_KEY_NOT_ALLOWED'
      when k.access::text <> all (string_to_array(a.access, ',')) then 'FORBIDDEN'
      when k."restingAt" is not null then 'MAX_API_KEYS_REACHED'
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
  select s."ownerId", s.period, p.quota, least(sum(s.granted), p.quota)::int as granted
  from shares s join unnest($6::text[], $7::int[]) as p(plan, quota) on p.plan = s.plan group by s."ownerId", s.period, p.quota
), budgets as (
  insert into api_usage as u ("userId", period, "apiRequestsCount", granted)
  select "ownerId", period, granted, granted from owners where granted > 0 order by "ownerId"
  on conflict ("userId", period) do update set ("apiRequestsCount", granted) = (
    select u."apiRequestsCount" + g.granted, g.granted
    from (
      select greatest(0, least(excluded.granted, o.quota - u."apiRequestsCount")) as granted
      from owners o where o."ownerId" = excluded."userId"
    ) g
  )
  returning "userId", granted
)
select k.i, k.verdict, k.id as "keyId", k."userId", k."workspaceId", k."teamId", k."ownerId", k.plan, k.active, k.access,
  coalesce(s.granted, 0) as granted,
  coalesce(s.used, (select w.used from windows w where w.id = k.id), 0) as used,
  coalesce(greatest(0, least(s.granted, b.granted - (sum(s.granted) over (partition by s."ownerId" order by k.i) - s.granted))), 0)::int as counted,
  greatest(1, ceil(extract(epoch from k."periodEnd" - now())))::int as "untilRenewal"
from known k left join shares s on s.i = k.i left join budgets b on b."userId" = s."ownerId"`

/**
 * Turns keys into principals, takes from their one-second rate windows and counts the requests. Returns one row per group whose key is
 * known (unique index on `api_keys.hash`). Keys that are used outside of their scope take nothing and only get the state of their rate
 * window. Both tables (rate_windows, api_usage) are locked in the order of their primary keys, and the grouping between them completes
 * the first before the second begins.
 */
export async function admitGroups(sql: Sql, groups: readonly Group[], rateLimit: number): Promise<Admitted[]> {
  const { rows } = await sql.query<Admitted>({
    name: 'billing.admit',
    text: admit,
    values: [
      groups.map((group) => group.hash),
      groups.map((group) => group.teamId),
      groups.map((group) => group.scope),
      groups.map((group) => group.members.length),
      rateLimit,
      plans.map((plan) => plan.code),
      plans.map((plan) => plan.limits.monthlyApiRequestQuota),
      stepMs(rateLimit),
      groups.map((group) => group.access),
    ],
  })
  return rows
}

/** Takes one request out of the period's count. */
export async function uncountRequest(sql: Sql, ownerId: string): Promise<void> {
  await sql.query(
    `update api_usage set "apiRequestsCount" = greatest(0, "apiRequestsCount" - 1) where "userId" = $1 and period = ${periodOfUserSql('$1')}`,
    [ownerId],
  )
}
