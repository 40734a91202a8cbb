// Shared by the identity routes: authentication of the caller, and the mapping of better-auth's errors to the API's error codes.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../core/app.ts'
import { type ErrorCode, fail, invalidToken } from '../../core/errors.ts'
import { trustedOrigins } from '../../core/network/trusted-origins.ts'
import type { TokenClaims } from './access-token.ts'
import { identity } from './identity.ts'

/** A person in a response to the console. */
export interface ConsoleUser {
  id: string
  email: string
  name: string
  emailVerified: boolean
  createdAt: Date
}

/** Returns only the public fields. better-auth's user has more. */
export function consoleUser({ id, email, name, emailVerified, createdAt }: ConsoleUser): ConsoleUser {
  return { id, email, name, emailVerified, createdAt }
}

/** Maximum length of the User-Agent that is stored with a session, in characters. */
const maxAgentLength = 512

/** Returns the headers that better-auth needs of a request: cookie, User-Agent and client address. */
export function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers({ 'x-forwarded-for': request.ip })
  const { cookie, 'user-agent': agent } = request.headers
  if (cookie !== undefined) headers.set('cookie', cookie)
  if (agent !== undefined) headers.set('user-agent', agent.slice(0, maxAgentLength))
  return headers
}

/** Copies the cookies that better-auth sets to the reply. */
export function passCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie)
}

/** Rejects pages of other origins; browsers always name those in `Origin`. @throws FORBIDDEN when the origin is not trusted. */
export function checkOrigin(app: App, { headers: { origin } }: FastifyRequest): void {
  if (origin !== undefined && !trustedOrigins(app).includes(origin))
    fail('FORBIDDEN', 'Pages of this origin may not sign users in or out')
}

/**
 * Returns the claims of an access token whose session exists.
 * @throws UNAUTHORIZED when token or session is missing or invalid; API_RATE_LIMIT_EXCEEDED when the person is over the per-second limit.
 */
export async function callerOf(app: App, request: FastifyRequest): Promise<TokenClaims> {
  const claims = await claimsOf(app, request)
  if (!claims || !(await isOpen(app, claims))) return refuseToken()
  await app.hooks.limitSignIn(app, claims.userId)
  return claims
}

async function isOpen({ db }: App, { sessionId: id, userId }: TokenClaims): Promise<boolean> {
  return (await db.authSession.count({ where: { id, userId, expiresAt: { gt: new Date() } } })) > 0
}

/** Returns the claims of the token in `Authorization: Bearer`; null without a valid one. */
export async function claimsOf(app: App, request: FastifyRequest): Promise<TokenClaims | null> {
  const values = request.raw.headersDistinct.authorization
  // A duplicate header counts as missing.
  const token = values?.length === 1 ? /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(values[0] as string)?.[1] : undefined
  return token ? await identity(app).judge(token) : null
}

export function refuseToken(): never {
  fail('UNAUTHORIZED', invalidToken)
}

const codes: Record<string, ErrorCode> = {
  INVALID_EMAIL_OR_PASSWORD: 'INVALID_CREDENTIALS',
  EMAIL_NOT_VERIFIED: 'EMAIL_NOT_VERIFIED',
  INVALID_TOKEN: 'INVALID_TOKEN',
  TOKEN_EXPIRED: 'INVALID_TOKEN',
  USER_NOT_FOUND: 'INVALID_TOKEN',
  FAILED_TO_CREATE_SESSION: 'SERVICE_UNAVAILABLE',
}

interface Refusal {
  statusCode: number
  body?: { code?: string }
}

/** True if the error is an APIError of better-auth, which its own routes would send as a response. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'APIError' && 'statusCode' in error && typeof error.statusCode === 'number'
}

/** Awaits a call of better-auth. Maps its rejections to the API's error codes; any other error is rethrown unchanged. */
export async function asking<T>(app: App, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!isRefusal(error)) throw error
    const code = codes[error.body?.code ?? '']
    if (code) fail(code)
    if (error.statusCode === 401) refuseToken()
    app.log.error({ part: 'identity', err: error, code: error.body?.code }, 'a call of identity failed')
    // better-auth's own 5xx errors are database failures.
    return fail(error.statusCode >= 500 ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR')
  }
}
