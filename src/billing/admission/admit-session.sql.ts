// SQL of the admission of signed-in people: one statement for each batch of requests.
import type { Sql } from '../../core/database/database.ts'
import type { TeamRole } from '../../core/principal.ts'
import { planInForceSql } from '../plans.ts'
import { windowsSql } from './rate-window.sql.ts'
import { stepMs } from './rate-window.ts'

export interface SessionRequest {
  userId: string
  sessionId: string
  /** The team whose workspace is requested, as the caller wrote it; null for the personal workspace. */
  teamId: string | null
  /** False for a further look-up of a request that was counted already. */
  counts: boolean
}

export interface AdmittedPerson {
  i: number
  /**
   * How many requests of this batch the person's rate window let through, and the position of this request among them, from 0; -1 if it does
   * not count.
   */
  granted: number
  position: number
  sessionId: string
  userId: string
  /** Null if the user is not in the team, if there is no such team, or if the personal workspace is missing. */
  workspaceId: string | null
  teamId: string | null
  role: TeamRole | null
  ownerId: string
  plan: string
  active: boolean
}

// The id of the workspace is found first, so that only the requested workspaces are read. The rate window of a person is stored under the
// user's id, in the same table as the windows of keys.
export const statement = `
with known as (
  select a.i::int, s.id as "sessionId", s."userId", w.id as "workspaceId", t.id as "teamId", m.role::text as role, w."ownerId",
    ${planInForceSql('b')} as plan,
    b.status <> 'inactive' as active, a.counts,
    case when a.counts then count(w.id) filter (where a.counts) over (partition by s."userId" order by a.i)::int - 1 else -1 end as position
  from unnest($1::uuid[], $2::uuid[], $3::uuid[], $6::bool[]) with ordinality as a(session, "user", team, counts, i)
  join auth_sessions s on s.id = a.session and s."userId" = a."user" and s."expiresAt" > now()
  left join team_members m on m."teamId" = a.team and m."userId" = s."userId"
  left join teams t on t.id = m."teamId" and t."deletedAt" is null
  left join workspaces w on w.id = case when a.team is null
    then (select p.id from workspaces p where p."ownerId" = s."userId"
      and not exists (select from teams team where team."workspaceId" = p.id) limit 1)
    else t."workspaceId" end
  left join subscriptions b on b."userId" = w."ownerId"
), ${windowsSql('select "userId" as id, count("workspaceId") filter (where counts) as n from known group by "userId"', 4, 5)}
select k.*, w.granted from known k join windows w on w.id = k."userId"`

/**
 * Turns sessions into principals, in the workspace they ask for, and takes from each person's one-second rate window. Returns one row per
 * request whose session is not over (primary key of `auth_sessions`).
 */
export async function admitPeople(sql: Sql, requests: readonly SessionRequest[], limit: number): Promise<AdmittedPerson[]> {
  const { rows } = await sql.query<AdmittedPerson>({
    name: 'billing.admit-session',
    text: statement,
    values: [
      requests.map(({ sessionId }) => sessionId),
      requests.map(({ userId }) => userId),
      requests.map(({ teamId }) => teamId),
      limit,
      stepMs(limit),
      requests.map(({ counts }) => counts),
    ],
  })
  return rows
}
