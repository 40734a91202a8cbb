// Who may sign in and how, for the whole process: better-auth as it is set up now, and the judge of its tokens.
import type { App } from '../../core/app.ts'
import type { OidcSettings } from '../../core/config/config.ts'
import { failure } from '../../core/errors.ts'
import { inTime } from '../../core/time-limit.ts'
import { createTokenJudge, type TokenClaims } from './access-token.ts'
import type { Auth } from './auth.ts'

export interface Identity {
  auth: () => Promise<Auth>
  /** With that identity provider in it. @throws NOT_FOUND for one that is not set up, SERVICE_UNAVAILABLE while it does not answer. */
  withProvider: (id: string) => Promise<Auth>
  /** What a good access token claims; null for any other. */
  judge: (token: string) => Promise<TokenClaims | null>
}

declare module '../../core/app.ts' {
  interface App {
    identity: Identity
  }
}

/** An identity provider that takes longer to say what it is counts as one that is down. */
const discoveryMs = 3_000

/**
 * Providers come in when somebody first signs in through them: better-auth reads their discovery documents as it starts,
 * and one that is silent would hold up every login.
 */
export function createIdentity(app: App): Identity {
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
    // What this process has to load the first time is no time of the provider's.
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
      if (oidc?.id !== id) throw failure('NOT_FOUND', `There is no identity provider ${id}`)
      if (ready.has(id)) return await auth()
      // Whoever comes meanwhile waits for the same answer.
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

/** Known once the server listens. */
function baseUrlOf({ config: { publicUrl } }: App): string {
  if (!publicUrl) throw failure('SERVICE_UNAVAILABLE')
  return publicUrl
}

/** Loaded by whoever first signs in: a process that does other work never needs it. */
async function start(app: App, baseUrl: string, oidc: readonly OidcSettings[]): Promise<Auth> {
  const { createAuth } = await import('./auth.ts')
  return createAuth(app, { baseUrl, oidc })
}

/** @throws where not every provider is there: better-auth itself leaves out the one whose document it cannot read. */
async function startWith(app: App, baseUrl: string, oidc: readonly OidcSettings[]): Promise<Auth> {
  const auth = await start(app, baseUrl, oidc)
  const { socialProviders } = await auth.$context
  const missing = oidc.find(({ id }) => !socialProviders.some((provider) => provider.id === id))
  if (missing) throw new Error(`nothing of use at ${missing.discoveryUrl}`)
  return auth
}
