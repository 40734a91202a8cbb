// Mounts the identity routes under /api/auth: what people do before they have a token, and with their sessions.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { changePassword } from './password-change.ts'
import { forgotPassword, resetPassword } from './password-reset.ts'
import { endSession, listSessions } from './sessions.ts'
import { logIn, logOut, renewToken } from './sign-in.ts'
import { resendVerification, signUp, verifyEmail } from './sign-up.ts'
import { leaveForProvider, returnFromProvider } from './single-sign-on.ts'

type Verb = (app: App, request: FastifyRequest, reply: FastifyReply) => Promise<unknown>

interface AuthRoute {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  status?: number
  verb: Verb
  /** What the verb sends is the whole answer, in no envelope. */
  bare?: true
}

const authRoutes: readonly AuthRoute[] = [
  { method: 'POST', path: '/signup', status: 201, verb: signUp },
  { method: 'POST', path: '/verify-email', verb: verifyEmail },
  { method: 'POST', path: '/verify-email/resend', status: 202, verb: resendVerification },
  { method: 'POST', path: '/login', verb: logIn },
  { method: 'POST', path: '/token', verb: renewToken },
  { method: 'POST', path: '/logout', verb: logOut },
  { method: 'POST', path: '/password/forgot', status: 202, verb: forgotPassword },
  { method: 'POST', path: '/password/reset', verb: resetPassword },
  { method: 'POST', path: '/password/change', verb: changePassword },
  { method: 'GET', path: '/sessions', verb: listSessions },
  { method: 'DELETE', path: '/sessions/:id', verb: endSession },
  { method: 'GET', path: '/jwks', verb: showKeys, bare: true },
  { method: 'GET', path: '/oauth/:provider', verb: leaveForProvider, bare: true },
  { method: 'GET', path: '/oauth/:provider/callback', verb: returnFromProvider, bare: true },
]

/** The public keys that tokens are signed with, as others expect them. */
async function showKeys(app: App, _: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return await reply.send(await (await app.identity.auth()).api.getJwks())
}

/** Registers the routes below `prefix`; answers which methods each path takes. */
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
