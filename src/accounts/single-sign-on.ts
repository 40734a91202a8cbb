// Signing in through an identity provider (OpenID Connect with PKCE): the way there and the way back.
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '../core/app.ts'
import { fail } from '../core/errors.ts'
import { headersOf, passCookies } from './auth-call.ts'
import { consoleUrl } from './console-url.ts'

type ProviderRequest = FastifyRequest<{ Params: { provider: string }; Querystring: Record<string, string> }>

/** How long the provider may take to say who somebody is. */
const exchangeMs = 10_000

/** Sends the browser to the provider. @throws NOT_FOUND, SERVICE_UNAVAILABLE while the provider does not answer. */
export async function leaveForProvider(app: App, request: ProviderRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params
  const auth = await app.identity.withProvider(provider)
  const { response, headers } = await auth.api.signInSocial({
    body: { provider, callbackURL: consoleUrl(app), errorCallbackURL: consoleUrl(app), disableRedirect: true },
    headers: headersOf(request),
    returnHeaders: true,
  })
  if (!('url' in response) || !response.url) fail('SERVICE_UNAVAILABLE')
  passCookies(reply, headers)
  return await reply.code(302).header('location', response.url).send()
}

/** The provider sends the browser back: to the console with a session, or with `?error=` and why not. */
export async function returnFromProvider(app: App, request: ProviderRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { provider } = request.params
  const auth = await app.identity.withProvider(provider)
  const late = new AbortController()
  const answer = await Promise.race([
    auth.api.callbackOAuth({
      method: 'GET',
      params: { id: provider },
      query: request.query,
      headers: headersOf(request),
      asResponse: true,
    }),
    pause(exchangeMs, undefined, { signal: late.signal, ref: false }),
  ]).finally(() => late.abort())
  if (!answer) fail('SERVICE_UNAVAILABLE', `The identity provider ${provider} does not answer`)
  passCookies(reply, answer.headers)
  const location = answer.headers.get('location')
  if (!location) fail('SERVICE_UNAVAILABLE', `The identity provider ${provider} did not say who this is`)
  return await reply.code(302).header('location', location).send()
}
