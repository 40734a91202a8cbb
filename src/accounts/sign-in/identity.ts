// Sign-in for the whole process: the current better-auth instance with its identity providers, and the verifier of access tokens.
import type { App } from '../../core/app.ts'
import type { OidcSettings } from '../../core/config/config.ts'
import { failure } from '../../core/errors.ts'
import { definePart } from '../../core/part.ts'
import { inTime } from '../../core/time-limit.ts'
import { createTokenJudge, type TokenClaims } from './access-token.ts'
import type { Auth } from './auth.ts'

export interface Identity {
  auth: () => Promise<Auth>
  /** An instance with that provider. @throws NOT_FOUND when it is not configured; SERVICE_UNAVAILABLE when it does not respond. */
  withProvider: (id: string) => Promise<Auth>
  /** Returns the claims of a valid access token; null for any other. */
  judge: (token: string) => Promise<TokenClaims | null>
}

/** Time limit for a provider's discovery document. A slower identity provider counts as down. */
const discoveryMs = 3_000

/**
 * Adds a provider when somebody first signs in through it. better-auth reads the discovery documents when it starts, so one provider that
 * does not respond would block every login.
 */
export const identity = definePart(createIdentity)

function createIdentity(app: App): Identity {
  const ready = new Map<string, OidcSettings>()
  const joining = new Map<string, Promise<Auth>>()
  let current: { baseUrl: string; auth: Promise<Auth> } | undefined

  async function auth(): Promise<Auth> {
    const baseUrl = baseUrlOf(app)
    if (current?.baseUrl !== baseUrl) current = { baseUrl, auth: start(app, baseUrl, [...ready.values()]) }
    return await current.auth
  }

  async function join(settings: OidcSettings): Promise<Auth> {
    const baseUrl = baseUrlOf(app)
    // Loads the module first, so that its load time does not count against the provider.
    await import('./auth.ts')
    const work = startWith(app, baseUrl, [...ready.values(), settings])
    const next = await inTime(discoveryMs, work, () => new Error(`no answer within ${discoveryMs} ms`)).catch((error: Error) => {
      app.log.warn({ provider: settings.id, err: error.message }, 'an identity provider cannot be reached')
      throw failure('SERVICE_UNAVAILABLE', `The identity provider ${settings.id} cannot be reached`)
    })
    ready.set(settings.id, settings)
    current = { baseUrl, auth: Promise.resolve(next) }
    return next
  }

  return {
    auth,
    async withProvider(id) {
      const { oidc } = app.secrets
      if (oidc?.id !== id) throw failure('NOT_FOUND', `No identity provider is called ${id}`)
      if (ready.has(id)) return await auth()
      // Concurrent requests share one attempt.
      let asked = joining.get(id)
      if (!asked) {
        asked = join(oidc).finally(() => joining.delete(id))
        joining.set(id, asked)
      }
      return await asked
    },
    judge: createTokenJudge(app, auth),
  }
}

/** @throws SERVICE_UNAVAILABLE when the server does not listen yet, because the public URL is known only from then on. */
function baseUrlOf({ config: { publicUrl } }: App): string {
  if (!publicUrl) throw failure('SERVICE_UNAVAILABLE')
  return publicUrl
}

/** Loads better-auth with the first sign-in, so that processes without sign-ins never load it. */
async function start(app: App, baseUrl: string, oidc: readonly OidcSettings[]): Promise<Auth> {
  const { createAuth } = await import('./auth.ts')
  return createAuth(app, { baseUrl, oidc })
}

/** @throws Error when a provider is missing: better-auth omits a provider whose discovery document it cannot read. */
async function startWith(app: App, baseUrl: string, oidc: readonly OidcSettings[]): Promise<Auth> {
  const auth = await start(app, baseUrl, oidc)
  const { socialProviders } = await auth.$context
  const missing = oidc.find(({ id }) => !socialProviders.some((provider) => provider.id === id))
  if (missing) throw new Error(`no valid discovery document at ${missing.discoveryUrl}`)
  return auth
}
