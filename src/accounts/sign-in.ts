// Signing in with a password, getting access tokens, signing out.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { codeOf } from '../core/errors.ts'
import { parse, text } from '../core/validation.ts'
import { asking, type ConsoleUser, checkOrigin, claimsOf, consoleUser, headersOf, passCookies, refuseToken } from './auth-call.ts'
import { email } from './email.ts'
import { forgetTries, guarded } from './login-guard.ts'
import { tokenSeconds } from './token-form.ts'

/** Of the password only what a hash can take: what is too short to be one is wrong, not invalid. */
const loginBody = z.object({ email, password: text(1, 128) })

export interface Token {
  accessToken: string
  /** Seconds. */
  expiresIn: number
}

/** @throws INVALID_CREDENTIALS, EMAIL_NOT_VERIFIED, API_RATE_LIMIT_EXCEEDED after five failures. */
export async function logIn(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token & { user: ConsoleUser }> {
  checkOrigin(app, request)
  const body = parse(loginBody, request.body)
  await guarded(app, reply, body.email)
  const { response, headers } = await asking(
    (await app.identity.auth()).api.signInEmail({ body, headers: headersOf(request), returnHeaders: true }),
  ).catch(async (error) => {
    // The password was right.
    if (codeOf(error) === 'EMAIL_NOT_VERIFIED') await forgetTries(app.pool, body.email)
    throw error
  })
  await forgetTries(app.pool, body.email)
  passCookies(reply, headers)
  const sessionId = await sessionOf(app, response.token)
  return { ...(await tokenFor(app, response.user.id, sessionId)), user: consoleUser(response.user) }
}

async function sessionOf(app: App, token: string): Promise<string> {
  const { rows } = await app.pool.query<{ id: string }>('select id from auth_sessions where token = $1', [token])
  return rows[0]?.id ?? refuseToken()
}

async function tokenFor(app: App, userId: string, sessionId: string): Promise<Token> {
  const payload = { sub: userId, sid: sessionId, iat: Math.floor(Date.now() / 1000) }
  const { token } = await (await app.identity.auth()).api.signJWT({ body: { payload } })
  return { accessToken: token, expiresIn: tokenSeconds }
}

/** A new token for the session of the cookie, whose time begins anew. @throws UNAUTHORIZED. */
export async function renewToken(app: App, request: FastifyRequest, reply: FastifyReply): Promise<Token> {
  checkOrigin(app, request)
  const { response, headers } = await (await app.identity.auth()).api.getSession({
    headers: headersOf(request),
    returnHeaders: true,
  })
  passCookies(reply, headers)
  if (!response) return refuseToken()
  return await tokenFor(app, response.user.id, response.session.id)
}

/** Ends the session of the cookie, and that of the token where there is one. */
export async function logOut(app: App, request: FastifyRequest, reply: FastifyReply): Promise<{ loggedOut: true }> {
  checkOrigin(app, request)
  const { headers } = await (await app.identity.auth()).api.signOut({ headers: headersOf(request), returnHeaders: true })
  passCookies(reply, headers)
  const claims = await claimsOf(app, request)
  if (claims) await app.pool.query('delete from auth_sessions where id = $1', [claims.sessionId])
  return { loggedOut: true }
}
