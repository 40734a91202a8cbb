// Who may sign in and how, for the whole process: better-auth as it is set up now, and the judge of its tokens.
import type { App } from '../core/app.ts'
import type { OidcSettings } from '../core/config.ts'
import { failure } from '../core/errors.ts'
import { createTokenJudge, type TokenClaims } from './access-token.ts'
import { type Auth, createAuth } from './auth.ts'

export interface Identity {
  auth: () => Auth
  /** With that identity provider in it. @throws NOT_FOUND for one that is not set up, SERVICE_UNAVAILABLE while it does not answer. */
  withProvider: (id: string) => Promise<Auth>
  /** What a good access token claims; null for any other. */
  judge: (token: string) => Promise<TokenClaims | null>
}

declare module '../core/app.ts' {
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
  let current: { baseUrl: string; auth: Auth } | undefined
  let joining: Promise<Auth> | undefined

  function auth(): Auth {
    const { publicUrl } = app.config
    if (!publicUrl) throw failure('SERVICE_UNAVAILABLE')
    const baseUrl = publicUrl.replace(/\/$/, '')
    if (current?.baseUrl !== baseUrl) current = { baseUrl, auth: createAuth(app, { baseUrl, oidc: [...ready.values()] }) }
    return current.auth
  }

  async function join(settings: OidcSettings): Promise<Auth> {
    const { baseUrl } = { baseUrl: (app.config.publicUrl ?? '').replace(/\/$/, '') }
    const unreachable = failure('SERVICE_UNAVAILABLE', `The identity provider ${settings.id} cannot be reached`)
    try {
      const response = await fetch(settings.discoveryUrl, { signal: AbortSignal.timeout(discoveryMs) })
      if (!response.ok) throw new Error(`it answered ${response.status}`)
      await response.arrayBuffer()
      const next = createAuth(app, { baseUrl, oidc: [...ready.values(), settings] })
      const context = await Promise.race([
        next.$context,
        new Promise<never>((_, reject) => setTimeout(reject, discoveryMs, new Error('it did not answer in time')).unref()),
      ])
      if (!context.socialProviders.some(({ id }) => id === settings.id)) throw new Error('its discovery document is of no use')
      ready.set(settings.id, settings)
      current = { baseUrl, auth: next }
      return next
    } catch (error) {
      app.log.warn({ provider: settings.id, err: (error as Error).message }, 'an identity provider cannot be reached')
      throw unreachable
    }
  }

  return {
    auth,
    async withProvider(id) {
      const settings = app.secrets.oidc?.id === id ? app.secrets.oidc : undefined
      if (!settings) throw failure('NOT_FOUND', `There is no identity provider ${id}`)
      if (ready.has(id)) return auth()
      joining ??= join(settings).finally(() => {
        joining = undefined
      })
      return await joining
    },
    judge: createTokenJudge(app, auth),
  }
}
