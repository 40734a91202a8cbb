// Admission of people who are signed in: one statement a flush turns sessions into principals, in the workspace they ask for,
// and takes from each person's one-second window.
import { isPersonal, openAccount } from '../../accounts/service.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import type { Principal, TeamRole } from '../../core/context.ts'
import { failure } from '../../core/errors.ts'
import { isId } from '../../core/id.ts'
import { planInForceSql } from '../plans.ts'
import type { Admission } from './admit.ts'
import { stepMs, windowsSql } from './rate-window.ts'

export interface SessionRequest {
  userId: string
  sessionId: string
  /** The team whose workspace is asked for, as the caller wrote it; null for the personal one. */
  teamId: string | null
}

declare module '../../core/app.ts' {
  interface App {
    /**
     * Null for a session that is over; an admission without a principal for TEAM_NOT_FOUND, which takes nothing of the
     * person's window, and for API_RATE_LIMIT_EXCEEDED.
     */
    admitSession: (request: SessionRequest) => Promise<Admission | null>
  }
}

interface Row {
  i: number
  /** How many of this flush the person's window let through, and the request's place among them, from 0. */
  granted: number
  position: number
  sessionId: string
  userId: string
  /** Null where the user is not in the team, or there is no such team. */
  workspaceId: string | null
  teamId: string | null
  role: TeamRole | null
  ownerId: string
  plan: string
  active: boolean
}

/** The id of no team: what is malformed is asked for as this. */
const noTeam = '00000000-0000-0000-0000-000000000000'

/** Asks the database each time, so that a session that ended anywhere is refused here at once, and so is whoever left a team. */
export function createSessionAdmission(app: App): App['admitSession'] {
  const batch = createBatch<SessionRequest, Row | null>({
    max: 200,
    parallel: 2,
    run: (requests) => admitAll(app, requests),
    observe: (size) => app.metrics.batchSize.observe({ batch: 'admit session' }, size),
  })
  return async ({ teamId, ...claims }) => {
    const request = { ...claims, teamId: teamId === null || isId(teamId) ? teamId : noTeam }
    let row = await batch(request)
    if (row && !row.workspaceId && !request.teamId) {
      // The process that made the account ended before the account had a workspace.
      await openAccount(app.pool, request.userId)
      row = await batch(request)
    }
    return row && answerOf(app, row)
  }
}

function answerOf(app: App, row: Row): Admission {
  const { workspaceId, sessionId, userId, teamId, role, ownerId, plan, active } = row
  if (!workspaceId) return { principal: null, error: failure('TEAM_NOT_FOUND'), rate: null, retryAfter: null }
  if (row.position >= row.granted) {
    const error = failure('API_RATE_LIMIT_EXCEEDED', 'Too many requests in one second by this person')
    const rate = { limit: app.config.personRateLimitPerSecond, remaining: 0, reset: 1 }
    return { principal: null, error, rate, retryAfter: 1 }
  }
  const principal: Principal = {
    credentialId: sessionId,
    kind: 'console',
    userId,
    workspaceId,
    teamId,
    role,
    ownerId,
    plan,
    active,
  }
  return { principal, error: null, rate: null, retryAfter: null }
}

// The id of the workspace is found first, so that of the workspaces no more than those that are asked for are read. A person's
// window is kept under the user's id, beside those of keys.
export const statement = `
with known as (
  select a.i::int, s.id as "sessionId", s."userId", w.id as "workspaceId", t.id as "teamId", m.role::text as role, w."ownerId",
    ${planInForceSql('b')} as plan,
    b.status <> 'inactive' as active,
    count(w.id) over (partition by s."userId" order by a.i)::int - 1 as position
  from unnest($1::uuid[], $2::uuid[], $3::uuid[]) with ordinality as a(session, "user", team, i)
  join auth_sessions s on s.id = a.session and s."userId" = a."user" and s."expiresAt" > now()
  left join team_members m on m."teamId" = a.team and m."userId" = s."userId"
  left join teams t on t.id = m."teamId" and t."deletedAt" is null
  left join workspaces w on w.id = case when a.team is null
    then (select p.id from workspaces p where p."ownerId" = s."userId" and ${isPersonal('p')} limit 1)
    else t."workspaceId" end
  left join subscriptions b on b."userId" = w."ownerId"
), ${windowsSql('select "userId" as id, count("workspaceId") as n from known group by "userId"', 4, 5)}
select k.*, w.granted from known k join windows w on w.id = k."userId"`

async function admitAll(app: App, requests: readonly SessionRequest[]): Promise<(Row | null)[]> {
  const limit = app.config.personRateLimitPerSecond
  const { rows } = await app.pool.query<Row>({
    name: 'billing.admit-session',
    text: statement,
    values: [
      requests.map(({ sessionId }) => sessionId),
      requests.map(({ userId }) => userId),
      requests.map(({ teamId }) => teamId),
      limit,
      stepMs(limit),
    ],
  })
  const found = new Map(rows.map((row) => [row.i, row]))
  return requests.map((_, i) => found.get(i + 1) ?? null)
}
