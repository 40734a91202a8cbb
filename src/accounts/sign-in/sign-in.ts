// Signing in with a password, getting access tokens, signing out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { parse, text } from '../../core/validation.ts'
import { email } from '../email.ts'
import { asking, type ConsoleUser, checkOrigin, claimsOf, consoleUser, headersOf, passCookies, refuseToken } from './auth-call.ts'
import { strangerOf } from './claimant.ts'
import { deviceOf, rememberDevice } from './known-device.ts'
import { guarded } from './login-guard.ts'
import { tokenSeconds } from './token-form.ts'

/** Of the password only what a hash can take: what is too short to be one is wrong, not invalid. */
export const loginBody = z
  .object({ email: email.describe('Whose account it is.'), password: text(1, 128).describe('Its password.') })
  .describe('Who signs in.')

export interface Token {
  accessToken: string
  /** Seconds. */
  expiresIn: number
}

/**
 * Begins a session, and makes this device known for the account.
 * @throws INVALID_CREDENTIALS, EMAIL_NOT_VERIFIED, FORBIDDEN, API_RATE_LIMIT_EXCEEDED after five failures, SERVICE_UNAVAILABLE.
 */
export async function logIn(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token & { user: ConsoleUser }> {
  checkOrigin(app, request)
  const body = parse(loginBody, request.body)
  const device = deviceOf(app, request, body.email)
  const claimant = device === null ? strangerOf(request) : ({ kind: 'device', id: device, email: body.email } as const)
  const { user, sessionId, headers } = await guarded(app, body.email, claimant, () => openSession(app, body, headersOf(request)))
  passCookies(reply, headers)
  rememberDevice(app, request, reply, body.email)
  return { ...(await tokenFor(app, user.id, sessionId)), user }
}

interface Opened {
  user: ConsoleUser
  sessionId: string
  /** With the session's cookie. */
  headers: Headers
}

/** @throws INVALID_CREDENTIALS, EMAIL_NOT_VERIFIED. */
async function openSession(app: App, body: z.output<typeof loginBody>, asked: Headers): Promise<Opened> {
  const judgedBy = await hashOf(app, body.email)
  const { response, headers } = await asking(
    app,
    (await app.identity.auth()).api.signInEmail({ body, headers: asked, returnHeaders: true }),
  )
  // Whoever sets another password ends the sessions that there are; this one may have come too late for that. The lock waits
  // for a change that is under way; a later one finds the session and ends it.
  const { rows } = await app.pool.query<{ id: string; hash: string | null }>(
    `select s.id, a.password as hash from auth_sessions s
      join auth_accounts a on a."userId" = s."userId" and a."providerId" = 'credential' where s.token = $1 for share of a`,
    [response.token],
  )
  const [session] = rows
  if (session && session.hash === judgedBy) return { user: consoleUser(response.user), sessionId: session.id, headers }
  await app.pool.query('delete from auth_sessions where token = $1', [response.token])
  // Judged anew by the password that holds now.
  return await openSession(app, body, asked)
}

async function hashOf(app: App, email: string): Promise<string | null> {
  const { rows } = await app.pool.query<{ hash: string | null }>(
    `select a.password as hash from users u join auth_accounts a on a."userId" = u.id and a."providerId" = 'credential' where u.email = $1`,
    [email],
  )
  return rows[0]?.hash ?? null
}

async function tokenFor(app: App, userId: string, sessionId: string): Promise<Token> {
  const payload = { sub: userId, sid: sessionId, iat: Math.floor(Date.now() / 1000) }
  const { token } = await (await app.identity.auth()).api.signJWT({ body: { payload } })
  return { accessToken: token, expiresIn: tokenSeconds }
}

/**
 * A new token for the session of the cookie, whose time begins anew. A device whose session did not begin with a password here is
 * made known for the account. @throws UNAUTHORIZED, FORBIDDEN, API_RATE_LIMIT_EXCEEDED.
 */
export async function renewToken(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token> {
  checkOrigin(app, request)
  const { response, headers } = await asking(
    app,
    (await app.identity.auth()).api.getSession({ headers: headersOf(request), returnHeaders: true }),
  )
  passCookies(reply, headers)
  if (!response) return refuseToken()
  await app.limitSignIn(response.user.id)
  const { email } = response.user
  if (deviceOf(app, request, email) === null) rememberDevice(app, request, reply, email)
  return await tokenFor(app, response.user.id, response.session.id)
}

/** Ends the session of the cookie, and that of the token where there is one. */
export async function logOut(app: App, request: FastifyRequest, reply: FastifyReply): Promise<{ loggedOut: true }> {
  checkOrigin(app, request)
  const { api } = await app.identity.auth()
  const asked = headersOf(request)
  const ofCookie = await asking(app, api.getSession({ headers: asked, query: { disableRefresh: true } }))
  const ofToken = await claimsOf(app, request)
  const ids = [ofCookie?.session.id, ofToken?.sessionId].filter((id) => id !== undefined)
  await app.pool.query('delete from auth_sessions where id = any($1::uuid[])', [ids])
  // Only for the cookie: better-auth says that a session is over even where it could not end it.
  const { headers } = await api.signOut({ headers: asked, returnHeaders: true })
  passCookies(reply, headers)
  return { loggedOut: true }
}
