// Sign-in with a password, renewal of access tokens, sign-out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { parse, text } from '../../core/validation.ts'
import { hashOf } from '../credential.ts'
import { email } from '../email.ts'
import { asking, type ConsoleUser, checkOrigin, claimsOf, consoleUser, headersOf, passCookies, refuseToken } from './auth-call.ts'
import { anonymousOf } from './claimant.ts'
import { identity } from './identity.ts'
import { deviceOf, rememberDevice } from './known-device.ts'
import { guarded } from './login-guard.ts'
import { lockHashOfSession } from './sessions.sql.ts'
import { tokenSeconds } from './token-form.ts'

/** Accepts any password that can be hashed: one that is too short to be a password gives INVALID_CREDENTIALS, not VALIDATION_ERROR. */
export const loginBody = z
  .object({ email: email.describe('The e-mail address of the account.'), password: text(1, 128).describe('The password.') })
  .describe('The credentials of a user.')

export interface Token {
  accessToken: string
  /** Lifetime in seconds. */
  expiresIn: number
}

/**
 * Begins a session, and marks this device as known for the account.
 * @throws INVALID_CREDENTIALS when address or password is wrong; EMAIL_NOT_VERIFIED when the address is not verified; FORBIDDEN when the
 * page's origin is not trusted; API_RATE_LIMIT_EXCEEDED when five attempts failed or too many are queued; SERVICE_UNAVAILABLE when too many
 * requests are queued in all.
 */
export async function logIn(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token & { user: ConsoleUser }> {
  checkOrigin(app, request)
  const body = parse(loginBody, request.body)
  const device = deviceOf(app, request, body.email)
  const claimant = device === null ? anonymousOf(request) : ({ kind: 'device', id: device, email: body.email } as const)
  const { user, sessionId, headers } = await guarded(app, body.email, claimant, () => openSession(app, body, headersOf(request)))
  passCookies(reply, headers)
  rememberDevice(app, request, reply, body.email)
  return { ...(await tokenFor(app, user.id, sessionId)), user }
}

interface Opened {
  user: ConsoleUser
  sessionId: string
  /** Contains the session cookie. */
  headers: Headers
}

/** @throws INVALID_CREDENTIALS when address or password is wrong; EMAIL_NOT_VERIFIED when the address is not verified. */
async function openSession(app: App, body: z.output<typeof loginBody>, asked: Headers): Promise<Opened> {
  const judgedBy = await hashOf(app.db, { email: body.email })
  const { response, headers } = await asking(
    app,
    (await identity(app).auth()).api.signInEmail({ body, headers: asked, returnHeaders: true }),
  )
  // A password change ends the sessions that exist, and may have run before this session did.
  const session = await lockHashOfSession(app.pool, response.token)
  if (session && session.hash === judgedBy) return { user: consoleUser(response.user), sessionId: session.id, headers }
  await app.db.authSession.deleteMany({ where: { token: response.token } })
  // Signs in again, against the current password.
  return await openSession(app, body, asked)
}

/** The first access token of a session. */
export async function tokenFor(app: App, userId: string, sessionId: string): Promise<Token> {
  const payload = { sub: userId, sid: sessionId, iat: Math.floor(Date.now() / 1000) }
  const { token } = await (await identity(app).auth()).api.signJWT({ body: { payload } })
  return { accessToken: token, expiresIn: tokenSeconds }
}

/**
 * Returns a new token for the session of the cookie. A session that is a day old is extended. A device that is not known for the account
 * yet, as after single sign-on, is marked as known.
 * @throws UNAUTHORIZED when there is no valid session; FORBIDDEN when the page's origin is not trusted; API_RATE_LIMIT_EXCEEDED when the
 * person is over the per-second limit.
 */
export async function renewToken(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token> {
  checkOrigin(app, request)
  const { response, headers } = await asking(
    app,
    (await identity(app).auth()).api.getSession({ headers: headersOf(request), returnHeaders: true }),
  )
  passCookies(reply, headers)
  if (!response) return refuseToken()
  await app.hooks.limitSignIn(app, response.user.id)
  const { email } = response.user
  if (deviceOf(app, request, email) === null) rememberDevice(app, request, reply, email)
  return await tokenFor(app, response.user.id, response.session.id)
}

/** Ends the session of the cookie, and that of the token if there is one. @throws FORBIDDEN when the page's origin is not trusted. */
export async function logOut(app: App, request: FastifyRequest, reply: FastifyReply): Promise<{ loggedOut: true }> {
  checkOrigin(app, request)
  const { api } = await identity(app).auth()
  const asked = headersOf(request)
  const ofCookie = await asking(app, api.getSession({ headers: asked, query: { disableRefresh: true } }))
  const ofToken = await claimsOf(app, request)
  const ids = [ofCookie?.session.id, ofToken?.sessionId].filter((id) => id !== undefined)
  await app.db.authSession.deleteMany({ where: { id: { in: ids } } })
  // Called only to clear the cookie: better-auth reports the session as ended even if it could not end it.
  const { headers } = await api.signOut({ headers: asked, returnHeaders: true })
  passCookies(reply, headers)
  return { loggedOut: true }
}
