// Signing in through an identity provider (OpenID Connect with PKCE): the way there and the way back.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { fail, failure } from '../../core/errors.ts'
import { inTime } from '../../core/time-limit.ts'
import { parse } from '../../core/validation.ts'
import { consoleHome } from '../mail/console-url.ts'
import { countAsk } from './ask-bounds.ts'
import { asking, headersOf, passCookies } from './auth-call.ts'
import { strangerOf } from './claimant.ts'

/** What the provider sends the browser back with, besides what is its own business. */
export const callbackQuery = z.object({
  code: z.string().optional().describe("The provider's word for who it is."),
  state: z.string().optional().describe('What was handed to the provider on the way there.'),
  error: z.string().optional().describe('Why the provider let nobody in.'),
})

/** How long the provider may take to say who somebody is. */
const exchangeMs = 10_000

/** Exchanges with the provider at once in this process: each lasts for seconds while the provider hangs, and holds a connection. */
const mostExchanges = 100
let exchanges = 0

/**
 * Sends the browser to the provider; what it is to come back with is a row of the database.
 * @throws NOT_FOUND, API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE while the provider does not answer.
 */
export async function leaveForProvider(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params as { provider: string }
  const auth = await app.identity.withProvider(provider)
  await countAsk(app, strangerOf(request), 'single sign-on')
  const { response, headers } = await asking(
    app,
    auth.api.signInSocial({
      body: { provider, callbackURL: consoleHome(app), errorCallbackURL: consoleHome(app), disableRedirect: true },
      headers: headersOf(request),
      returnHeaders: true,
    }),
  )
  if (!('url' in response) || !response.url) fail('SERVICE_UNAVAILABLE')
  passCookies(reply, headers)
  return await reply.code(302).header('location', response.url).send()
}

/**
 * The provider sends the browser back: to the console with a session, or with `?error=` and why not.
 * @throws NOT_FOUND, VALIDATION_ERROR, SERVICE_UNAVAILABLE.
 */
export async function returnFromProvider(app: App, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params as { provider: string }
  const auth = await app.identity.withProvider(provider)
  parse(callbackQuery, request.query)
  if (exchanges >= mostExchanges) fail('SERVICE_UNAVAILABLE', `The identity provider ${provider} is asked by too many at once`)
  exchanges++
  const asked = auth.api.callbackOAuth({
    method: 'GET',
    params: { id: provider },
    query: request.query as Record<string, string>,
    headers: headersOf(request),
    asResponse: true,
  })
  // Beyond the time that is waited for it, too.
  const left = () => void exchanges--
  asked.then(left, left)
  const answer = await inTime(exchangeMs, asked, () =>
    failure('SERVICE_UNAVAILABLE', `The identity provider ${provider} does not answer`),
  )
  passCookies(reply, answer.headers)
  const location = answer.headers.get('location')
  if (!location) fail('SERVICE_UNAVAILABLE', `The identity provider ${provider} did not say who this is`)
  return await reply.code(302).header('location', location).send()
}
