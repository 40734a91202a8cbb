// An identity provider on loopback, from the third-party library oidc-provider, that signs in everyone with the given claims.
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider from 'oidc-provider'
import { atEnd } from '../kit/at-end.ts'

export interface Claims {
  sub: string
  email: string
  email_verified: boolean
  name: string
}

export interface IdentityProvider {
  /** The settings for the gateway. */
  env: Record<string, string>
  /** The claims of the next person who signs in. */
  claims: Claims
  /** Replaces the provider's answers, for example with one that hangs; null restores the provider. */
  instead: RequestListener | null
  port: number
}

/** Ends with the test, or with the file when no test runs. {@link allow} sets the `redirectUri` once the gateway URL is known. */
export async function openProvider(port = 0): Promise<IdentityProvider & { allow: (redirectUri: string) => void }> {
  let handle: RequestListener = (_, response) => response.writeHead(503).end()
  const server = createServer((request, response) => (opened.instead ?? handle)(request, response))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  atEnd('test', async () => {
    server.closeAllConnections()
    server.close()
  })
  const opened = {
    env: {
      OIDC_PROVIDER: 'example',
      OIDC_DISCOVERY_URL: `${issuer}/.well-known/openid-configuration`,
      OIDC_CLIENT_ID: 'gateway',
      OIDC_CLIENT_SECRET: 'the secret of the gateway at its provider',
    },
    claims: { sub: 'nobody', email: '', email_verified: true, name: 'Ada' },
    instead: null as RequestListener | null,
    port: (server.address() as AddressInfo).port,
    allow(redirectUri: string) {
      handle = providerOf(issuer, redirectUri, () => opened.claims).callback()
    },
  }
  return opened
}

function providerOf(issuer: string, redirectUri: string, claims: () => Claims): Provider {
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'gateway',
        client_secret: 'the secret of the gateway at its provider',
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code'],
        response_types: ['code'],
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    cookies: { keys: ['test'] },
    findAccount: (_, sub) => ({ accountId: sub, claims: () => ({ ...claims() }) }),
    interactions: { url: (_, { uid }) => `/interaction/${uid}` },
    async loadExistingGrant({ oidc }) {
      const grant = new provider.Grant({ accountId: oidc.session?.accountId, clientId: oidc.client?.clientId })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  // Every visitor is signed in at once.
  provider.use(async (context, next) => {
    if (!context.path.startsWith('/interaction/')) return await next()
    const location = await provider.interactionResult(context.req, context.res, { login: { accountId: claims().sub } })
    context.redirect(location)
  })
  return provider
}

/** The header of a browser that opens a page. */
export const asBrowser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }

/** Follows redirects as a browser does, with the cookies of each host; stops at the first URL outside of `within`. */
export async function browse(
  start: string,
  within: readonly string[],
  headers: Record<string, string> = {},
): Promise<{ location: string; cookies: Map<string, string> }> {
  const jars = new Map<string, Map<string, string>>()
  let location = start
  for (let hops = 0; hops < 20; hops++) {
    const { origin } = new URL(location)
    if (!within.includes(origin)) return { location, cookies: jars.get(within[0] as string) ?? new Map() }
    const jar = jars.get(origin) ?? new Map<string, string>()
    jars.set(origin, jar)
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(location, { redirect: 'manual', headers: cookie ? { ...headers, cookie } : headers })
    for (const line of response.headers.getSetCookie()) {
      const [name, value] = (line.split(';', 1)[0] as string).split(/=(.*)/s) as [string, string]
      if (/max-age=0|expires=thu, 01 jan 1970/i.test(line)) jar.delete(name)
      else jar.set(name, value)
    }
    const next = response.headers.get('location')
    if (!next) throw new Error(`${location} was answered ${response.status} ${await response.text()}`)
    location = new URL(next, location).href
  }
  throw new Error('redirects without end')
}
