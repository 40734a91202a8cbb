// The door: turns a request's credential into a context, and says on the reply how the caller's rate stands.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { claimsOf, refuseToken } from '../accounts/sign-in/auth-call.ts'
import { type Admission, type Scope, uncount } from '../billing/admission/admit.ts'
import { planOf } from '../billing/plans.ts'
import type { App } from '../core/app.ts'
import type { Context, Principal } from '../core/context.ts'
import { codeOf, fail } from '../core/errors.ts'

/** A request whose credential holds, before it is known what the request is about. */
export interface Caller {
  /**
   * The context for a request about that, by the rules of keys and teams.
   * @throws TEAM_KEY_REQUIRED, TEAM_KEY_NOT_ALLOWED, TEAM_NOT_FOUND; the request then counts towards no monthly quota.
   */
  authorize: (scope: Scope) => Promise<Context>
}

export interface Authenticator {
  /**
   * Identifies the caller by the request's headers alone, with one look-up, so that no unknown caller makes the gateway read
   * a body. It takes from the rate and the quota of a key.
   * @throws UNAUTHORIZED, API_RATE_LIMIT_EXCEEDED, MONTHLY_API_REQUEST_QUOTA_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  identify: (request: FastifyRequest, reply: FastifyReply) => Promise<Caller>
  /**
   * Lets a key in.
   * @throws UNAUTHORIZED, TEAM_KEY_REQUIRED, TEAM_KEY_NOT_ALLOWED, API_RATE_LIMIT_EXCEEDED, MONTHLY_API_REQUEST_QUOTA_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  admitKey: (request: FastifyRequest, reply: FastifyReply, scope: Scope) => Promise<Context>
  /**
   * Lets a person in who is signed in, to the personal workspace or that of the team.
   * @throws UNAUTHORIZED, TEAM_NOT_FOUND, API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE.
   */
  admitPerson: (request: FastifyRequest, reply: FastifyReply, team: unknown) => Promise<Context>
}

export function createAuthenticator(app: App): Authenticator {
  async function admitKey(request: FastifyRequest, reply: FastifyReply, scope: Scope): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const teamId = request.headers['x-team-id']
    const admission = await app.admit({
      key: headerOf(request, 'x-api-key'),
      teamId,
      scope: scope === 'account' ? 'open' : scope,
    })
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextFor(request, admission.principal)
  }

  async function admitPerson(request: FastifyRequest, reply: FastifyReply, team: unknown): Promise<Context> {
    if (app.stopping) fail('SERVICE_UNAVAILABLE')
    const claims = await claimsOf(app, request)
    if (!claims) return refuseToken()
    const teamId = team === undefined ? null : String(team).toLowerCase()
    const admission = await app.admitSession({ ...claims, teamId })
    if (!admission) return refuseToken()
    setRateHeaders(reply, admission)
    if (!admission.principal) throw admission.error
    return contextFor(request, admission.principal)
  }

  /** Keys: every rule but those of teams is judged at once, and those follow from the principal and the header. */
  async function identifyKey(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const context = await admitKey(request, reply, 'open')
    const { principal } = context
    const namesTeam = request.headers['x-team-id'] !== undefined
    return {
      async authorize(scope) {
        const code = refusalOf(principal, namesTeam, scope)
        if (!code) return context
        await uncount(app, principal)
        return fail(code)
      },
    }
  }

  /** People: a team that they are not in is refused only where the request is about a workspace. */
  async function identifyPerson(request: FastifyRequest, reply: FastifyReply): Promise<Caller> {
    const team = request.headers['x-team-id']
    const own = () => admitPerson(request, reply, undefined)
    let refusal: unknown
    const found = await admitPerson(request, reply, team).catch(async (error) => {
      if (codeOf(error) !== 'TEAM_NOT_FOUND') throw error
      refusal = error
      // This one takes from the person's rate, which a team that is none does not.
      return await own()
    })
    return {
      async authorize(scope) {
        const ownOnly = scope === 'account' || scope === 'open'
        if (refusal && !ownOnly) throw refusal
        return ownOnly && team !== undefined && !refusal ? await own() : found
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

/** The rule of keys and teams that a request about `scope` breaks, null where it breaks none. */
function refusalOf({ kind }: Principal, namesTeam: boolean, scope: Scope) {
  if (kind === 'personal' && namesTeam && (scope === 'workspace' || scope === 'both')) return 'TEAM_KEY_REQUIRED'
  if (kind === 'team' && (scope === 'personal' || scope === 'both')) return 'TEAM_KEY_NOT_ALLOWED'
  return null
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
