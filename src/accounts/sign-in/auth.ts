// Configures better-auth on our tables, with our hashing and our mail. It is called in process; its own routes are not served.
import { betterAuth } from 'better-auth'
import { prismaAdapter } from 'better-auth/adapters/prisma'
import { APIError } from 'better-auth/api'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { jwt } from 'better-auth/plugins/jwt'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { OidcSettings } from '../../core/config/config.ts'
import { newId } from '../../core/id.ts'
import { trustedOrigins } from '../../core/network/trusted-origins.ts'
import { email } from '../email.ts'
import { consoleHome } from '../mail/console-url.ts'
import { orderVerification } from '../mail/token-mail.ts'
import { openAccount } from '../open-account.ts'
import { authDatabase, dbOfHook } from './auth-database.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { boundSessions } from './sessions.sql.ts'
import { signInDirectly } from './sign-in-directly.ts'
import { signUpFault } from './sign-up-rule.ts'
import { identitySecret, signingKeys } from './signing-key.ts'
import { tokenAudience, tokenSeconds } from './token-form.ts'

const day = 86_400

/** Sessions of one person: a program may sign in for every token, and nothing else ends a session for 30 days. */
const mostSessions = 1_000

const noTokens = { accessToken: null, refreshToken: null, idToken: null }

export type Auth = ReturnType<typeof createAuth>

export interface AuthOptions {
  /** Public URL of this server: issuer of tokens, origin of cookies. */
  baseUrl: string
  /** Providers whose discovery document is readable. An unreachable one would block every login. */
  oidc: readonly OidcSettings[]
}

const refusal = z.object({ error: z.string(), error_description: z.string().optional(), status: z.number().optional() })

/** Returns the error among the details that better-auth logs, or the refusal of an identity provider (OAuth), which is no Error. */
function causeIn(details: readonly unknown[]): { err?: Error; refusal?: z.output<typeof refusal> } {
  const err = details.find((detail) => detail instanceof Error)
  return err ? { err } : { refusal: details.map((detail) => refusal.safeParse(detail).data).find(Boolean) }
}

/**
 * Rejects an invalid address from an identity provider that does not vouch for it. A verification mail goes to it and must reach one
 * address, but the provider may send any text.
 * @throws APIError when the address is unverified and invalid.
 */
function refuseUnwritable(user: { email: string; emailVerified: boolean }): void {
  if (!user.emailVerified && !email.safeParse(user.email).success)
    throw new APIError('BAD_REQUEST', { code: 'email_not_valid', message: 'This is not an e-mail address' })
}

/** @throws APIError when `SIGNUP` allows no account for the address; and as {@link refuseUnwritable}. */
async function refuseNew(app: App, user: { email: string; emailVerified: boolean }): Promise<void> {
  refuseUnwritable(user)
  const fault = await signUpFault(app, dbOfHook(app.db), user.email)
  if (fault) throw new APIError('FORBIDDEN', { message: fault })
}

/** Returns the URL that an identity provider sends people back to. */
function callbackUrl(baseUrl: string, provider: string): string {
  return `${baseUrl}/api/auth/oauth/${provider}/callback`
}

export function createAuth(app: App, { baseUrl, oidc }: AuthOptions) {
  const { secretKey, previousSecretKey } = app.secrets
  if (!secretKey) throw new Error('SECRET_KEY is not set')
  return betterAuth({
    appName: 'gateway',
    baseURL: baseUrl,
    basePath: '/api/auth',
    trustedOrigins: trustedOrigins(app),
    secret: identitySecret(secretKey),
    telemetry: { enabled: false },
    logger: {
      level: 'error',
      log: (level, message, ...details) => app.log[level]({ part: 'identity', ...causeIn(details) }, message),
    },
    onAPIError: { errorURL: consoleHome(app) },
    // For a new person from an identity provider: user and account are created together or not at all. Sign-up and password reset are our
    // own code: better-auth would run them in its transaction, and hold its connection while it waits, such as for the turn of a hash.
    database: prismaAdapter(authDatabase(app.db), { provider: 'postgresql', transaction: true }),
    session: { modelName: 'authSession', expiresIn: 30 * day, updateAge: day },
    account: { modelName: 'authAccount', updateAccountOnSignIn: false },
    verification: { modelName: 'authVerification', storeIdentifier: 'hashed' },
    advanced: {
      // Set explicitly, because better-auth turns these checks off when NODE_ENV is `test`.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: 'gateway',
      // Stores the whole IPv6 address, not only its network. Our rate limits derive the network themselves.
      ipAddress: { ipv6Subnet: 128 },
      useSecureCookies: baseUrl.startsWith('https:'),
      database: { generateId: () => newId(), joins: true },
    },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      // We count code points, better-auth counts UTF-16 units. One code point takes up to two units.
      minPasswordLength: 10,
      maxPasswordLength: 256,
      password: { hash: hashPassword, verify: ({ hash, password }) => verifyPassword(hash, password) },
    },
    emailVerification: {
      // For new people whose identity provider does not vouch for the address. Sign-up with a password sends its own mail (sign-up.ts).
      sendOnSignUp: true,
      // People who lost the mail request another one (`verify-email/resend`).
      sendOnSignIn: false,
      autoSignInAfterVerification: false,
      // Uses our own token. A token of better-auth would work more than once, and for every sign-up of the address.
      sendVerificationEmail: ({ user }) => orderVerification(app, user.email),
    },
    databaseHooks: {
      user: { create: { before: (user) => refuseNew(app, user), after: (user) => openAccount(app.db, user.id) } },
      session: { create: { after: ({ userId }) => boundSessions(app.pool, userId, mostSessions) } },
      // The gateway requests nothing from an identity provider later, so it stores none of the provider's tokens.
      account: { create: { before: async (account) => ({ data: { ...account, ...noTokens } }) } },
    },
    plugins: [
      signInDirectly,
      jwt({
        schema: { jwks: { modelName: 'authJwk' } },
        ...(previousSecretKey && { adapter: { getJwks: () => signingKeys(app.db, secretKey, previousSecretKey) } }),
        jwks: { keyPairConfig: { alg: 'EdDSA', crv: 'Ed25519' }, rotationInterval: 30 * day, gracePeriod: day },
        jwt: { issuer: baseUrl, audience: tokenAudience, expirationTime: `${tokenSeconds}s` },
        disableSettingJwtHeader: true,
      }),
      genericOAuth({
        config: oidc.map(({ id, discoveryUrl, clientId, clientSecret, scopes }) => ({
          providerId: id,
          discoveryUrl,
          clientId,
          clientSecret,
          scopes: [...scopes],
          redirectURI: callbackUrl(baseUrl, id),
          pkce: true,
          requireIdTokenVerification: true,
          requireEmailVerification: true,
        })),
      }),
    ],
  })
}
