// Fixtures of the single sign-on tests: a gateway with an identity provider, and people who sign in there.
import { randomUUID } from 'node:crypto'
import { cloneDatabase } from '../kit/database.ts'
import { startGateway } from '../kit/gateway.ts'
import { browse, openProvider } from './identity-provider.ts'

export const consoleUrl = 'http://console.example.com'

export type SingleSignOn = Awaited<ReturnType<typeof openSingleSignOn>>

export async function openSingleSignOn(env: Record<string, string> = {}) {
  const databaseUrl = await cloneDatabase()
  const provider = await openProvider()
  const gateway = await startGateway({ databaseUrl, env: { ...provider.env, CONSOLE_URL: consoleUrl, ...env } })
  provider.allow(`${gateway.url}/api/auth/oauth/example/callback`)
  const start = () => `${gateway.url}/api/auth/oauth/example`
  const issuer = () => `http://127.0.0.1:${provider.port}`

  /** Completes a sign-in at the provider; returns the browser's final location and session. */
  async function signInThere(
    claims: Partial<typeof provider.claims>,
  ): Promise<{ location: string; session: string | undefined }> {
    provider.claims = { sub: randomUUID(), email: `${randomUUID()}@example.com`, email_verified: true, name: 'Ada', ...claims }
    const { location, cookies } = await browse(start(), [gateway.url, issuer()])
    return { location, session: cookies.get('gateway.session_token') }
  }

  return { databaseUrl, provider, gateway, start, issuer, signInThere }
}
