// Admission of signed-in people. One statement per batch turns sessions into principals, in the workspace they ask for, and takes from the
// one-second rate window of each person.

import { openAccount } from '../../accounts/open-account.ts'
import type { App } from '../../core/app.ts'
import { createBatch } from '../../core/batch.ts'
import { failure } from '../../core/errors.ts'
import { isId, nilId } from '../../core/id.ts'
import { definePart } from '../../core/part.ts'
import type { Principal } from '../../core/principal.ts'
import type { Admission } from './admit.ts'
import { type AdmittedPerson, admitPeople, type SessionRequest } from './admit-session.sql.ts'

/**
 * Queries the database for every request, without a cache: an ended session, and a person who left the team, are rejected at once.
 * Returns null if the session is over. Returns an admission without a principal for API_RATE_LIMIT_EXCEEDED, and for TEAM_NOT_FOUND,
 * which takes nothing from the person's rate window.
 */
type AdmitSession = (request: SessionRequest) => Promise<Admission | null>

export const admitSessions = definePart(createSessionAdmission)

function createSessionAdmission(app: App): AdmitSession {
  const batch = createBatch<SessionRequest, AdmittedPerson | null>({
    max: 200,
    parallel: 2,
    run: (requests) => admitAll(app, requests),
    observe: (size) => app.metrics.batchSize.observe({ batch: 'admit session' }, size),
  })
  return async ({ teamId, ...claims }) => {
    // A malformed id is that of no team.
    const request = { ...claims, teamId: teamId === null || isId(teamId) ? teamId : nilId }
    let row = await batch(request)
    if (row && !row.workspaceId && !request.teamId) {
      // The process that created the account died before it created the workspace.
      await openAccount(app.db, request.userId)
      row = await batch(request)
    }
    return row && answerOf(app, row)
  }
}

function answerOf(app: App, row: AdmittedPerson): Admission {
  const { workspaceId, sessionId, userId, teamId, role, ownerId, plan, active } = row
  if (!workspaceId) return { principal: null, error: failure('TEAM_NOT_FOUND'), rate: null, retryAfter: null }
  if (row.position >= row.granted) {
    const error = failure('API_RATE_LIMIT_EXCEEDED', 'Too many requests in one second by this user')
    const rate = { limit: app.config.personRateLimitPerSecond, remaining: 0, reset: 1 }
    return { principal: null, error, rate, retryAfter: 1 }
  }
  const principal: Principal = {
    credentialId: sessionId,
    kind: 'console',
    access: 'full',
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

async function admitAll(app: App, requests: readonly SessionRequest[]): Promise<(AdmittedPerson | null)[]> {
  const rows = await admitPeople(app.pool, requests, app.config.personRateLimitPerSecond)
  const found = new Map(rows.map((row) => [row.i, row]))
  return requests.map((_, i) => found.get(i + 1) ?? null)
}
