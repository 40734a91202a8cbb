// Mounts the identity routes under /api/auth, and describes them: routes that people use before they have a token, and session routes.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import { type Described, described } from './auth-described.ts'
import { identity } from './identity.ts'
import { signInByLink } from './link.ts'
import { changePassword } from './password-change.ts'
import { forgotPassword, resetPassword } from './password-reset.ts'
import { endSession, listSessions } from './sessions.ts'
import { logIn, logOut, renewToken } from './sign-in.ts'
import { signUp } from './sign-up.ts'
import { leaveForProvider, returnFromProvider, tellingInConsole } from './single-sign-on.ts'
import { resendVerification, verifyEmail } from './verify-email.ts'

/** Enough for an address, a password and a name. Anybody can send such a body, so a larger one is not read. */
const maxBodyBytes = 16 * 1024

type Verb = (app: App, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

interface AuthRoute {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  status?: number
  verb: Verb
  docs: Described
  /** The handler sends the whole response, without the `data` envelope. */
  bare?: boolean
}

const authRoutes: readonly AuthRoute[] = [
  { method: 'POST', path: '/signup', status: 201, verb: signUp, docs: described.signUp },
  { method: 'POST', path: '/verify-email', verb: verifyEmail, docs: described.verifyEmail },
  { method: 'POST', path: '/verify-email/resend', status: 202, verb: resendVerification, docs: described.resendVerification },
  { method: 'POST', path: '/login', verb: logIn, docs: described.logIn },
  { method: 'POST', path: '/login/link', verb: signInByLink, docs: described.signInByLink },
  { method: 'POST', path: '/token', verb: renewToken, docs: described.renewToken },
  { method: 'POST', path: '/logout', verb: logOut, docs: described.logOut },
  { method: 'POST', path: '/password/forgot', status: 202, verb: forgotPassword, docs: described.forgotPassword },
  { method: 'POST', path: '/password/reset', verb: resetPassword, docs: described.resetPassword },
  { method: 'POST', path: '/password/change', verb: changePassword, docs: described.changePassword },
  { method: 'GET', path: '/sessions', verb: listSessions, docs: described.listSessions },
  { method: 'DELETE', path: '/sessions/:id', verb: endSession, docs: described.endSession },
  { method: 'GET', path: '/jwks', verb: showKeys, docs: described.showKeys, bare: true },
  {
    method: 'GET',
    path: '/oauth/:provider',
    status: 302,
    verb: tellingInConsole(leaveForProvider),
    docs: described.leaveForProvider,
    bare: true,
  },
  {
    method: 'GET',
    path: '/oauth/:provider/callback',
    status: 302,
    verb: tellingInConsole(returnFromProvider),
    docs: described.returnFromProvider,
    bare: true,
  },
]

/** Sends the public keys of access tokens as a JSON Web Key Set (RFC 7517). */
async function showKeys(app: App, _: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return await reply.send(await (await identity(app).auth()).api.getJwks())
}

/** Returns the routes for the OpenAPI document: method, path, status and description. */
export function describeAuth(prefix: string): (Described & Required<Pick<AuthRoute, 'method' | 'path' | 'status' | 'bare'>>)[] {
  return authRoutes.map(({ method, path, status = 200, docs, bare = false }) => ({
    method,
    path: prefix + path,
    status,
    bare,
    ...docs,
  }))
}

/** Registers the routes below `prefix`. Returns the methods that each path accepts. */
export function mountAuth(http: FastifyInstance, app: App, prefix: string): Map<string, Set<string>> {
  const taken = new Map<string, Set<string>>()
  const take = (method: string, path: string) => {
    taken.set(prefix + path, (taken.get(prefix + path) ?? new Set()).add(method))
    return prefix + path
  }
  for (const { method, path, status = 200, verb, bare } of authRoutes) {
    http.route({
      method,
      url: take(method, path),
      bodyLimit: maxBodyBytes,
      handler: async (request, reply) => {
        if (app.stopping) fail('SERVICE_UNAVAILABLE')
        const data = await verb(app, request, reply)
        if (bare) return data
        return await reply.code(status).header('cache-control', 'no-store').send({ data })
      },
    })
  }
  return taken
}
