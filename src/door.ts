// The door: turns a request's credential into a context, and says on the reply how the caller's rate stands.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { claimsOf, refuseToken } from './accounts/auth-call.ts'
import { type Admission, isKey, type Reach } from './billing/admit.ts'
import { planOf } from './billing/plans.ts'
import type { App } from './core/app.ts'
import type { Context, Principal } from './core/context.ts'
import { fail } from './core/errors.ts'

export interface Door {
  /** Refuses who brings nothing like a key or a token, before a body is read. @throws UNAUTHORIZED. */
  glance: (request: FastifyRequest) => void
  /**
   * Lets a key in.
   * @throws UNAUTHORIZED, TEAM_KEY_REQUIRED, TEAM_KEY_NOT_ALLOWED, API_RATE_LIMIT_EXCEEDED, MONTHLY_API_REQUEST_QUOTA_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  openToKey: (request: FastifyRequest, reply: FastifyReply, reach: Reach) => Promise<Context>
  /**
   * Lets a person in who is signed in, to the personal workspace or that of the team.
   * @throws UNAUTHORIZED, TEAM_NOT_FOUND, API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  openToPerson: (request: FastifyRequest, reply: FastifyReply, team: unknown) => Promise<Context>
  /** Either, by what the request brings. */
  open: (request: FastifyRequest, reply: FastifyReply, reach: Reach) => Promise<Context>
}

export function openDoor(app: App): Door {
  async function openToKey(request: FastifyRequest, reply: FastifyReply, reach: Reach): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const teamId = request.headers['x-team-id']
    const admission = await app.admit({
      key: headerOf(request, 'x-api-key'),
      teamId,
      reach: reach === 'account' ? 'open' : reach,
    })
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextOf(app, admission.principal, request.id)
  }

  async function openToPerson(request: FastifyRequest, reply: FastifyReply, team: unknown): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const claims = await claimsOf(app, request)
    if (!claims) return refuseToken()
    const teamId = team === undefined ? null : String(team).toLowerCase()
    const admission = await app.admitSession({ ...claims, teamId })
    if (!admission) return refuseToken()
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextOf(app, admission.principal, request.id)
  }

  return {
    openToKey,
    openToPerson,
    async open(request, reply, reach) {
      if (!isPerson(request)) return await openToKey(request, reply, reach)
      return await openToPerson(
        request,
        reply,
        reach === 'account' || reach === 'open' ? undefined : request.headers['x-team-id'],
      )
    },
    glance(request) {
      if (!isPerson(request) && !isKey(headerOf(request, 'x-api-key'))) fail('UNAUTHORIZED')
    },
  }
}

function isPerson({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] === undefined && /^bearer /i.test(headers.authorization ?? '')
}

/** A header given twice is no header: Node would join the two. */
function headerOf(request: FastifyRequest, name: string): string | undefined {
  const values = request.raw.headersDistinct[name]
  return values?.length === 1 ? values[0] : undefined
}

function setRateHeaders(reply: FastifyReply, { rate, retryAfter }: Admission): void {
  if (rate) {
    reply
      .header('RateLimit-Limit', rate.limit)
      .header('RateLimit-Remaining', rate.remaining)
      .header('RateLimit-Reset', rate.reset)
  }
  if (retryAfter !== null) reply.header('Retry-After', retryAfter)
}

/** The context of a principal. */
export function contextOf(app: App, principal: Principal, requestId: string): Context {
  const { limits, features } = planOf(principal.plan)
  return { app, principal, limits, features, requestId, idempotency: null }
}
