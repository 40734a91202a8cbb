// Checks what a gateway depends on besides its database: the media store, the mail server, Stripe and the identity provider.
import { createTransport } from 'nodemailer'
import { checkPrices } from '../billing/stripe/check.ts'
import { createMediaStore } from '../media/open-store.ts'
import { checkSpool } from '../media/spool.ts'
import type { Installation } from './command-database.ts'

/** Timeout of the connection, and again of the mail server's greeting. */
const mailMs = 5_000
/** Timeout of each later response. With an equal one, either error could be reported for a server that sends nothing at all. */
const mailSilenceMs = 6_000
const discoveryMs = 3_000

/** Each check throws a sentence when something is wrong, else returns one. */
export const surroundings: Record<string, (installation: Pick<Installation, 'config' | 'secrets'>) => Promise<string>> = {
  media: async (installation) => {
    await checkSpool(installation.config.dataDir)
    return await createMediaStore(installation).check()
  },
  mail: async ({ secrets: { smtpUrl } }) => {
    if (!smtpUrl) return 'SMTP_URL is not set; mails are written to files'
    const { host } = new URL(smtpUrl)
    const patience = { connectionTimeout: mailMs, greetingTimeout: mailMs, socketTimeout: mailSilenceMs }
    const transport = createTransport({ url: smtpUrl, ...patience })
    try {
      await transport.verify()
    } catch (error) {
      throw new Error(`the mail server ${host} refused the connection (${(error as Error).message}); check SMTP_URL`)
    } finally {
      transport.close()
    }
    return `the mail server ${host} accepts our login`
  },
  stripe: ({ secrets }) => checkPrices(secrets),
  identityProvider: async ({ secrets: { oidc } }) => {
    if (!oidc) return 'OIDC_DISCOVERY_URL is not set; users sign in with passwords'
    try {
      return `${oidc.id} is ${await issuerAt(oidc.discoveryUrl)}`
    } catch (error) {
      const { message, cause } = error as Error
      const why = cause instanceof Error ? `${message}: ${cause.message}` : message
      throw new Error(`${oidc.discoveryUrl} cannot be used (${why}); check OIDC_DISCOVERY_URL`)
    }
  },
}

async function issuerAt(discoveryUrl: string): Promise<string> {
  const response = await fetch(discoveryUrl, { signal: AbortSignal.timeout(discoveryMs) })
  const text = await response.text()
  if (!response.ok) throw new Error(`it answered ${response.status}`)
  const { issuer } = documentOf(text)
  if (typeof issuer !== 'string') throw new Error('it has no issuer')
  return issuer
}

function documentOf(text: string): { issuer?: unknown } {
  try {
    return Object(JSON.parse(text))
  } catch {
    throw new Error('it is not JSON')
  }
}
