// Single sign-on through an identity provider (OpenID Connect with PKCE): redirect to the provider, and callback.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { codeOf, type ErrorCode, fail, failure } from '../../core/errors.ts'
import { preferencesIn } from '../../core/http/preferences.ts'
import { isUnavailable } from '../../core/public-failure.ts'
import { inTime } from '../../core/time-limit.ts'
import { once, parse } from '../../core/validation.ts'
import { consoleHome, consoleUrl } from '../mail/console-url.ts'
import { countRequest } from './anonymous-limits.ts'
import { asking, headersOf, passCookies } from './auth-call.ts'
import { anonymousOf } from './claimant.ts'
import { identity } from './identity.ts'

/** The path stands behind the address of the console, so it cannot lead to another origin. */
export const leaveQuery = z.object({
  next: z
    .string()
    .max(2_000)
    .regex(/^\/[\x21-\x7e]*$/, 'must be a path of the console')
    .optional()
    .describe('The page of the console to return to, as a path with its query; the start page by default.'),
})

/** Query parameters that the provider sends the browser back with. It may add others. */
export const callbackQuery = z.object({
  code: once.optional().describe('The authorization code of the provider.'),
  state: once.optional().describe('The state that the gateway passed to the provider.'),
  error: once.optional().describe("The provider's reason for a refusal."),
})

/** Time limit for the exchange with the provider. */
const exchangeMs = 10_000

/** Maximum concurrent exchanges in this process. While the provider hangs, each lasts for seconds and holds a connection. */
const mostExchanges = 100
let exchanges = 0

/** The refusals that a person can meet, with their `?error=` in the console: names of better-auth and of OAuth, as the others there. */
const toldInConsole: Partial<Record<ErrorCode, string>> = {
  FORBIDDEN: 'signup_disabled',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
  API_RATE_LIMIT_EXCEEDED: 'temporarily_unavailable',
}

type Verb = (app: App, request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply>

/** Redirects a browser to the console with the reason, where `verb` refuses. Other callers are answered with the error itself. */
export function tellingInConsole(verb: Verb): Verb {
  return async (app, request, reply) => {
    try {
      return await verb(app, request, reply)
    } catch (error) {
      const code = isUnavailable(error) ? 'SERVICE_UNAVAILABLE' : codeOf(error)
      const reason = code && toldInConsole[code]
      if (!reason || preferencesIn(request.headers.accept)[0] !== 'text/html') throw error
      return await reply
        .code(302)
        .header('location', `${consoleHome(app)}?error=${reason}`)
        .send()
    }
  }
}

/**
 * Redirects the browser to the provider. The state that it must bring back is stored in the database.
 * @throws NOT_FOUND when the provider is not configured; VALIDATION_ERROR when the query is invalid; API_RATE_LIMIT_EXCEEDED when the network
 * is over its limit; SERVICE_UNAVAILABLE when the provider does not respond.
 */
export async function leaveForProvider(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params as { provider: string }
  const auth = await identity(app).withProvider(provider)
  const { next } = parse(leaveQuery, request.query)
  await countRequest(app, anonymousOf(request), 'single sign-on')
  const { response, headers } = await asking(
    app,
    auth.api.signInSocial({
      body: {
        provider,
        callbackURL: next ? consoleUrl(app) + next : consoleHome(app),
        errorCallbackURL: consoleHome(app),
        disableRedirect: true,
      },
      headers: headersOf(request),
      returnHeaders: true,
    }),
  )
  if (!('url' in response) || !response.url) fail('SERVICE_UNAVAILABLE')
  passCookies(reply, headers)
  return await reply.code(302).header('location', response.url).send()
}

/**
 * Handles the callback of the provider: redirects to the console with a session, or with `?error=` and the reason.
 * @throws NOT_FOUND when the provider is not configured; VALIDATION_ERROR when the query is invalid; FORBIDDEN when the person is new and
 * `SIGNUP` does not allow an account; SERVICE_UNAVAILABLE when the provider does not respond or too many exchanges are running.
 */
export async function returnFromProvider(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params as { provider: string }
  const auth = await identity(app).withProvider(provider)
  parse(callbackQuery, request.query)
  if (exchanges >= mostExchanges)
    fail('SERVICE_UNAVAILABLE', `Too many sign-ins through the identity provider ${provider} at the same time`)
  exchanges++
  const asked = auth.api.callbackOAuth({
    method: 'GET',
    params: { id: provider },
    query: request.query as Record<string, string>,
    headers: headersOf(request),
    asResponse: true,
  })
  // Counts until the exchange itself ends, which may be after the time limit.
  const left = () => void exchanges--
  asked.then(left, left)
  const answer = await inTime(exchangeMs, asked, () =>
    failure('SERVICE_UNAVAILABLE', `The identity provider ${provider} does not answer`),
  )
  const location = answer.headers.get('location')
  // The one refusal of a new person with that status (auth.ts).
  if (answer.status === 403) fail('FORBIDDEN', 'Sign-up needs an invitation, or is closed')
  passCookies(reply, answer.headers)
  if (!location) fail('SERVICE_UNAVAILABLE', `The identity provider ${provider} did not identify the user`)
  return await reply.code(302).header('location', location).send()
}
