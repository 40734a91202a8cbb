// Authentication: turns a request's API key or access token into a context, and sets the rate limit headers.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { claimsOf, refuseToken } from '../accounts/sign-in/auth-call.ts'
import { type Admission, admitKeys, beyond, uncount } from '../billing/admission/admit.ts'
import { admitSessions } from '../billing/admission/admit-session.ts'
import { planOf } from '../billing/plans.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import { codeOf, fail, failure } from '../core/errors.ts'
import type { Scope } from '../core/graph/prepared.ts'
import type { KeyAccess, Principal } from '../core/principal.ts'
import { everyAccess } from './key-access.ts'

/** The scope of a request, and the access levels of API keys that suffice for it. */
export interface Need {
  scope: Scope
  access: readonly KeyAccess[]
}

/** A request with a valid credential, before it is known what it needs. */
export interface Caller {
  /**
   * Returns the context for a request with this need, checked by the rules of keys and teams. A refused request does not count towards the
   * monthly quota.
   * @throws TEAM_KEY_REQUIRED when a personal key names a team for workspace data.
   * @throws TEAM_KEY_NOT_ALLOWED when a team key asks for personal data.
   * @throws FORBIDDEN when the access of the key does not suffice.
   * @throws TEAM_NOT_FOUND when a person is not in the named team.
   */
  authorize: (need: Need) => Promise<Context>
}

export interface Authenticator {
  /**
   * Identifies the caller from the headers alone, with one lookup (two for a person who names an unknown team), so that an unknown caller
   * cannot make the gateway read a body. Takes from the rate limit of the caller and from the monthly request quota of a key.
   * @throws UNAUTHORIZED when the credential is missing or invalid.
   * @throws API_RATE_LIMIT_EXCEEDED when the rate limit is used up.
   * @throws MONTHLY_API_REQUEST_QUOTA_EXCEEDED when the monthly request quota is used up.
   * @throws SERVICE_UNAVAILABLE when the process is stopping.
   */
  identify: (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>
  /**
   * Authenticates an API key.
   * @throws UNAUTHORIZED when the key is missing or invalid.
   * @throws TEAM_KEY_REQUIRED or TEAM_KEY_NOT_ALLOWED when the key does not fit the scope; FORBIDDEN when its access does not suffice.
   * @throws API_RATE_LIMIT_EXCEEDED or MONTHLY_API_REQUEST_QUOTA_EXCEEDED when a limit is used up.
   * @throws SERVICE_UNAVAILABLE when the process is stopping.
   */
  admitKey: (request: FastifyRequest, reply: FastifyReply, need: Need) => Promise<Context>
  /**
   * Authenticates a person by access token, for the personal workspace or for the workspace of `team`.
   * @throws UNAUTHORIZED when the token is missing or invalid.
   * @throws TEAM_NOT_FOUND when the person is not in the team.
   * @throws API_RATE_LIMIT_EXCEEDED when the rate limit is used up.
   * @throws SERVICE_UNAVAILABLE when the process is stopping.
   */
  admitPerson: (request: FastifyRequest, reply: FastifyReply, team: unknown) => Promise<Context>
}

export function createAuthenticator(app: App): Authenticator {
  async function admitKey(request: FastifyRequest, reply: FastifyReply, { scope, access }: Need): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const teamId = namedTeam(request)
    const admission = await admitKeys(app)({
      key: headerOf(request, 'x-api-key'),
      teamId,
      scope: scope === 'account' ? 'open' : scope,
      access,
    })
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextFor(request, admission.principal)
  }

  /** A further look-up for a request that was counted does not count: `counts` is false. */
  async function admitPerson(request: FastifyRequest, reply: FastifyReply, team: unknown, counts = true): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const claims = await claimsOf(app, request)
    if (!claims) return refuseToken()
    const teamId = team === undefined ? null : String(team).toLowerCase()
    const admission = await admitSessions(app)({ ...claims, teamId, counts })
    if (!admission) return refuseToken()
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextFor(request, admission.principal)
  }

  /**
   * API keys: all rules except those of teams and access are checked at once. These need only the principal and the header, and are checked
   * in `authorize`.
   */
  async function identifyKey(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const context = await admitKey(request, reply, { scope: 'open', access: everyAccess })
    const { principal } = context
    const namesTeam = namedTeam(request) !== undefined
    return {
      async authorize(need) {
        const refusal = refusalOf(principal, namesTeam, need)
        if (!refusal) return context
        await uncount(app, principal)
        throw refusal
      },
    }
  }

  /** People: an unknown team is refused only if the request turns out to need a workspace. */
  async function identifyPerson(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const team = namedTeam(request)
    const own = (counts: boolean) => admitPerson(request, reply, undefined, counts)
    let refusal: unknown
    const found = await admitPerson(request, reply, team).catch(async (error) => {
      if (codeOf(error) !== 'TEAM_NOT_FOUND') throw error
      refusal = error
      // Takes from the person's rate limit. The failed admission for the unknown team did not.
      return await own(true)
    })
    return {
      async authorize({ scope }) {
        const ownOnly = scope === 'account' || scope === 'open'
        if (refusal && !ownOnly) throw refusal
        return ownOnly && team !== undefined && !refusal ? await own(false) : found
      },
    }
  }

  function contextFor(request: FastifyRequest, principal: Principal): Context {
    request.caller = principal.kind === 'console' ? principal.userId : principal.ownerId
    return contextOf(app, principal, request.id)
  }

  return {
    admitKey,
    admitPerson,
    identify: (request, reply) => (isPerson(request) ? identifyPerson(request, reply) : identifyKey(request, reply)),
  }
}

/** The error of the rule of keys and teams that a request breaks; null if it breaks none. */
function refusalOf({ kind, access }: Principal, namesTeam: boolean, need: Need): Error | null {
  const { scope } = need
  if (kind === 'personal' && namesTeam && (scope === 'workspace' || scope === 'both')) return failure('TEAM_KEY_REQUIRED')
  if (kind === 'team' && (scope === 'personal' || scope === 'both')) return failure('TEAM_KEY_NOT_ALLOWED')
  return need.access.includes(access) ? null : failure('FORBIDDEN', beyond(access))
}

function isPerson({ headers }: FastifyRequest): boolean {
  return headers['x-api-key'] === undefined && /^bearer /i.test(headers.authorization ?? '')
}

/** The `X-Team-Id` header; an empty one counts as left out. */
export function namedTeam({ headers }: FastifyRequest): unknown {
  return headers['x-team-id'] || undefined
}

/** A repeated header counts as missing, because Node would join its values. */
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
      // So many requests in any window of one second.
      .header('RateLimit-Policy', `${rate.limit};w=1`)
  }
  if (retryAfter !== null) reply.header('Retry-After', retryAfter)
}

export function contextOf(app: App, principal: Principal, requestId: string): Context {
  const { limits, features } = planOf(principal.plan)
  return { app, principal, limits, features, requestId, idempotency: null }
}
