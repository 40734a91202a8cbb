// Identity: better-auth over our tables, with our hashing and our mail. It is called in process; its own routes are not served.
import { betterAuth } from 'better-auth'
import { prismaAdapter } from 'better-auth/adapters/prisma'
import { APIError } from 'better-auth/api'
import { genericOAuth } from 'better-auth/plugins/generic-oauth'
import { jwt } from 'better-auth/plugins/jwt'
import type { App } from '../../core/app.ts'
import type { OidcSettings } from '../../core/config/config.ts'
import { newId } from '../../core/id.ts'
import { trustedOrigins } from '../../core/network/trusted-origins.ts'
import { email } from '../email.ts'
import { consoleHome } from '../mail/console-url.ts'
import { orderVerification } from '../mail/token-mail.ts'
import { openAccount } from '../open-account.ts'
import { boundSessions } from './bound-sessions.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { identitySecret } from './signing-key.ts'
import { tokenAudience, tokenSeconds } from './token-form.ts'

const day = 86_400

const noTokens = { accessToken: null, refreshToken: null, idToken: null }

export type Auth = ReturnType<typeof createAuth>

export interface AuthOptions {
  /** Where others reach this server: issuer of tokens, origin of cookies. */
  baseUrl: string
  /** Providers whose discovery document can be read; one that cannot would hold up every login. */
  oidc: readonly OidcSettings[]
}

/** The error among what better-auth says of an event. */
function causeIn(details: readonly unknown[]): Error | undefined {
  return details.find((detail) => detail instanceof Error)
}

/** Whom an identity provider does not vouch for gets a mail, which is to go to one address: theirs may be any text. @throws APIError. */
function refuseUnwritable(user: { email: string; emailVerified: boolean }): void {
  if (!user.emailVerified && !email.safeParse(user.email).success)
    throw new APIError('BAD_REQUEST', { code: 'email_not_valid', message: 'This is no e-mail address' })
}

/** The address that an identity provider sends people back to. */
function callbackUrl(baseUrl: string, provider: string): string {
  return `${baseUrl}/api/auth/oauth/${provider}/callback`
}

export function createAuth(app: App, { baseUrl, oidc }: AuthOptions) {
  const { secretKey } = app.secrets
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
      log: (level, message, ...details) => app.log[level]({ part: 'identity', err: causeIn(details) }, message),
    },
    onAPIError: { errorURL: consoleHome(app) },
    // For somebody new from an identity provider: the person and the way in, or neither. What we do ourselves (signing up,
    // resets) better-auth would do in it too, and hold its connection while it waits for others.
    database: prismaAdapter(app.db, { provider: 'postgresql', transaction: true }),
    session: { modelName: 'authSession', expiresIn: 30 * day, updateAge: day },
    account: { modelName: 'authAccount', updateAccountOnSignIn: false },
    verification: { modelName: 'authVerification', storeIdentifier: 'hashed' },
    advanced: {
      // Said, because it is off by itself where NODE_ENV is `test`.
      disableOriginCheck: false,
      disableCSRFCheck: false,
      cookiePrefix: 'gateway',
      // The whole address, not the network that it would be counted by.
      ipAddress: { ipv6Subnet: 128 },
      useSecureCookies: baseUrl.startsWith('https:'),
      database: { generateId: () => newId(), joins: true },
    },
    emailAndPassword: {
      enabled: true,
      requireEmailVerification: true,
      // We count code points, better-auth UTF-16 units, of which one may take two.
      minPasswordLength: 10,
      maxPasswordLength: 256,
      password: { hash: hashPassword, verify: ({ hash, password }) => verifyPassword(hash, password) },
    },
    emailVerification: {
      // To somebody new whom an identity provider does not vouch for; who signs up with a password is written to by sign-up.ts.
      sendOnSignUp: true,
      // Whoever has lost the mail asks for another one (`verify-email/resend`).
      sendOnSignIn: false,
      autoSignInAfterVerification: false,
      // With a token of ours: one of better-auth's own would work more than once, and for every sign-up of the address.
      sendVerificationEmail: ({ user }) => orderVerification(app, user.email),
    },
    databaseHooks: {
      user: { create: { before: async (user) => refuseUnwritable(user), after: (user) => openAccount(app.pool, user.id) } },
      session: { create: { after: ({ userId }) => boundSessions(app.pool, userId) } },
      // Nothing is asked of an identity provider later, so none of its tokens is kept.
      account: { create: { before: async (account) => ({ data: { ...account, ...noTokens } }) } },
    },
    plugins: [
      jwt({
        schema: { jwks: { modelName: 'authJwk' } },
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
