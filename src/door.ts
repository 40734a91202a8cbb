// The door: turns a request's credential into a context, and says on the reply how its key stands.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Admission, isKey, type Reach } from './billing/admit.ts'
import { planOf } from './billing/plans.ts'
import type { App } from './core/app.ts'
import type { Context, Principal } from './core/context.ts'
import { fail } from './core/errors.ts'

export interface Door {
  /** Refuses who brings nothing like a key, before a body is read. @throws UNAUTHORIZED. */
  glance: (request: FastifyRequest) => void
  /** @throws UNAUTHORIZED, TEAM_KEY_REQUIRED, TEAM_KEY_NOT_ALLOWED, API_RATE_LIMIT_EXCEEDED, MONTHLY_API_REQUEST_QUOTA_EXCEEDED, SERVICE_UNAVAILABLE. */
  open: (request: FastifyRequest, reply: FastifyReply, reach: Reach) => Promise<Context>
}

export function openDoor(app: App): Door {
  async function open(request: FastifyRequest, reply: FastifyReply, reach: Reach): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const admission = await app.admit({ key: headerOf(request, 'x-api-key'), teamId: request.headers['x-team-id'], reach })
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextOf(app, admission.principal, request.id)
  }
  function glance(request: FastifyRequest): void {
    if (!isKey(headerOf(request, 'x-api-key'))) fail('UNAUTHORIZED')
  }
  return { glance, open }
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
