// The identity routes have in common: the caller, and better-auth's errors in our words.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../core/app.ts'
import { type ErrorCode, fail } from '../../core/errors.ts'
import { trustedOrigins } from '../../core/network/trusted-origins.ts'
import type { TokenClaims } from './access-token.ts'

declare module '../../core/app.ts' {
  interface App {
    /** Takes one of the requests that the person may make in a second on routes of sign-in. @throws API_RATE_LIMIT_EXCEEDED. */
    limitSignIn: (userId: string) => Promise<void>
  }
}

/** A person as the console shows them. */
export interface ConsoleUser {
  id: string
  email: string
  name: string
  emailVerified: boolean
  createdAt: Date
}

/** The person alone, without what else better-auth knows. */
export function consoleUser({ id, email, name, emailVerified, createdAt }: ConsoleUser): ConsoleUser {
  return { id, email, name, emailVerified, createdAt }
}

/** Of what a browser says of itself so much is kept with the session. */
const maxAgentLength = 512

/** What better-auth is to know of a request: its cookie, its browser, and the address it came from. */
export function headersOf(request: FastifyRequest): Headers {
  const headers = new Headers({ 'x-forwarded-for': request.ip })
  const { cookie, 'user-agent': agent } = request.headers
  if (cookie !== undefined) headers.set('cookie', cookie)
  if (agent !== undefined) headers.set('user-agent', agent.slice(0, maxAgentLength))
  return headers
}

/** Hands on the cookies that better-auth sets. */
export function passCookies(reply: FastifyReply, headers: Headers): void {
  for (const cookie of headers.getSetCookie()) reply.header('set-cookie', cookie)
}

/** Refuses a page of another origin, which a browser always names. @throws FORBIDDEN. */
export function checkOrigin(app: App, { headers: { origin } }: FastifyRequest): void {
  if (origin !== undefined && !trustedOrigins(app).includes(origin))
    fail('FORBIDDEN', 'Pages of this origin may not sign people in or out')
}

/** Who shows an access token whose session is still there. @throws UNAUTHORIZED, API_RATE_LIMIT_EXCEEDED. */
export async function callerOf(app: App, request: FastifyRequest): Promise<TokenClaims> {
  const claims = await claimsOf(app, request)
  const { rowCount } = claims
    ? await app.pool.query('select from auth_sessions where id = $1 and "userId" = $2 and "expiresAt" > now()', [
        claims.sessionId,
        claims.userId,
      ])
    : { rowCount: 0 }
  if (!claims || !rowCount) return refuseToken()
  await app.limitSignIn(claims.userId)
  return claims
}

/** What the token of `Authorization: Bearer` claims; null without a good one. */
export async function claimsOf(app: App, request: FastifyRequest): Promise<TokenClaims | null> {
  const values = request.raw.headersDistinct.authorization
  // A header given twice is no header.
  const token = values?.length === 1 ? /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(values[0] as string)?.[1] : undefined
  return token ? await app.identity.judge(token) : null
}

export function refuseToken(): never {
  fail('UNAUTHORIZED', 'Missing or invalid token')
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

/** Whether better-auth says it, as an answer of its own routes would. */
function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'APIError' && 'statusCode' in error && typeof error.statusCode === 'number'
}

/** Runs a call of better-auth. What it refuses is refused in the contract's words; any other error is left as it is. */
export async function asking<T>(app: App, call: Promise<T>): Promise<T> {
  try {
    return await call
  } catch (error) {
    if (!isRefusal(error)) throw error
    const code = codes[error.body?.code ?? '']
    if (code) fail(code)
    if (error.statusCode === 401) refuseToken()
    app.log.error({ part: 'identity', err: error, code: error.body?.code }, 'a call of identity failed')
    // Its own failures are those of the database.
    return fail(error.statusCode >= 500 ? 'SERVICE_UNAVAILABLE' : 'INTERNAL_ERROR')
  }
}
