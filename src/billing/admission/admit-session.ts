// Admission of signed-in people. One statement per batch turns sessions into principals, in the workspace they ask for, and takes from the
// one-second rate window of each person.

import { isPersonal, openAccount } from '../../accounts/service.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { failure } from '../../core/errors.ts'
import { isId } from '../../core/id.ts'
import { definePart } from '../../core/part.ts'
import type { Principal, TeamRole } from '../../core/principal.ts'
import { planInForceSql } from '../plans.ts'
import type { Admission } from './admit.ts'
import { stepMs, windowsSql } from './rate-window.ts'

export interface SessionRequest {
  userId: string
  sessionId: string
  /** The team whose workspace is requested, as the caller wrote it; null for the personal workspace. */
  teamId: string | null
}

interface Row {
  i: number
  /** How many requests of this batch the person's rate window let through, and the position of this request among them, from 0. */
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

/** The id of no team. It replaces a malformed team id. */
const noTeam = '00000000-0000-0000-0000-000000000000'

/** Queries the database for every request, without a cache: an ended session, and a person who left the team, are rejected at once. */
/**
 * Returns null if the session is over. Returns an admission without a principal for API_RATE_LIMIT_EXCEEDED, and for TEAM_NOT_FOUND,
 * which takes nothing from the person's rate window.
 */
type AdmitSession = (request: SessionRequest) => Promise<Admission | null>

export const admitSessions = definePart(createSessionAdmission)

function createSessionAdmission(app: App): AdmitSession {
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
      // The process that created the account died before it created the workspace.
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

// The id of the workspace is found first, so that only the requested workspaces are read. The rate window of a person is stored under the
// user's id, in the same table as the windows of keys.
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
