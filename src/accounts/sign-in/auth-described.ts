// Descriptions of the identity routes for the OpenAPI document. Bodies and queries use the same schemas that the handlers parse with.
import { z } from 'zod'
import type { ErrorCode } from '../../core/errors.ts'
import { answers } from './auth-answers.ts'
import { linkBody } from './link.ts'
import { changeBody } from './password-change.ts'
import { forgotBody, resetBody } from './password-reset.ts'
import { sessionPath } from './sessions.ts'
import { loginBody } from './sign-in.ts'
import { signUpBody } from './sign-up.ts'
import { callbackQuery, leaveQuery } from './single-sign-on.ts'
import { emailBody, verifyBody } from './verify-email.ts'

interface Body {
  /** The name of the schema in the document. */
  name: string
  schema: z.ZodObject
  examples: Record<string, { summary: string; value: unknown }>
}

/** An accepted credential: an access token, or the session cookie. */
type Credential = 'AccessToken' | 'Session'

export interface Described {
  operationId: string
  summary: string
  description: string
  /** Parameters in the path, and optional ones in the query. */
  pathParameters?: z.ZodObject
  query?: z.ZodObject
  body?: Body
  /** Null if the response is a redirect. */
  answer: z.ZodType | null
  /** Description of the success response. */
  done: string
  /** Any one of these credentials is enough. Omitted for a public route. */
  credentials?: readonly Credential[]
  /** Set if the route also works without a credential. */
  credentialOptional?: true
  setsCookie?: true
  /** Errors besides those of every route, of an invalid body and of a missing credential. */
  errors?: readonly ErrorCode[]
}

function body(name: string, schema: z.ZodObject, summary: string, value: unknown): Body {
  return { name, schema, examples: { plain: { summary, value } } }
}

const email = 'ada@example.com'
const password = 'correct horse'
const newPassword = 'battery staple'
// Example of a token from a mail.
const token = 'q0Zt3xPvFz1yN8sJm4bWcR7uKd2hLgTe'
const browser = ' Browsers may send this request from pages of `PUBLIC_URL` and `CONSOLE_URL` only.'
const toldToBrowsers =
  'A request whose `Accept` header prefers `text/html` is redirected to the console: with `?error=signup_disabled` if no account may be ' +
  'created, with `?error=temporarily_unavailable` if the sign-in is not possible at the moment. Other requests get 403, 429 or 503.'
const provider = z.object({ provider: z.string().describe('The name of the identity provider in this gateway: `sso`.') })

export const described = {
  signUp: {
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Creates an account and sends a mail with a link that verifies its address. A later sign-up for an address that is not verified replaces name and password; if they differ, earlier links become invalid. The response is the same if the address already has an account; the owner is informed by mail. `SIGNUP` of the gateway decides if anybody, only people with an open invitation to a team, or nobody may sign up: others get `FORBIDDEN`.',
    body: body('SignUp', signUpBody, 'An account', { email, password, name: 'Ada Lovelace' }),
    answer: answers.signedUp,
    done: 'A mail is sent.',
    errors: ['FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  verifyEmail: {
    operationId: 'verifyEmail',
    summary: 'Verify an e-mail address',
    description:
      'Takes the token of the mail, which is valid for one day and works once, unless a later sign-up for the address has another name or password. Afterwards the user can sign in with the password of the sign-up that the mail belongs to. Earlier sessions, API keys and invitations of the account end.',
    body: body('VerifyEmail', verifyBody, 'The token of the mail', { token }),
    answer: answers.verified,
    done: 'The address is verified.',
    errors: ['INVALID_TOKEN', 'INVALID_CREDENTIALS', 'API_RATE_LIMIT_EXCEEDED'],
  },
  resendVerification: {
    operationId: 'resendVerification',
    summary: 'Send the verification mail again',
    description:
      'Sends the mail if an account with this address waits for verification. The response is the same for every address.',
    body: body('MailAddress', emailBody, 'An address', { email }),
    answer: answers.accepted,
    done: 'A mail is sent if an account waits for verification.',
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  logIn: {
    operationId: 'logIn',
    summary: 'Sign in with a password',
    description: `Starts a session of 30 days, stored in a cookie, and returns its first access token. Each network has five failed attempts in 15 minutes for one address. If many networks fail for one address, the waiting time between attempts grows. A second cookie identifies a known device, whose failed attempts are counted separately.${browser}`,
    body: body('Login', loginBody, 'Address and password', { email, password }),
    answer: answers.signedIn,
    done: 'The session has started.',
    setsCookie: true,
    errors: ['INVALID_CREDENTIALS', 'EMAIL_NOT_VERIFIED', 'FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  signInByLink: {
    operationId: 'signInByLink',
    summary: 'Sign in with a one-time link',
    description: `Exchanges the token of a link for a session of 30 days, stored in a cookie, and returns its first access token. The operator makes such links with \`gateway account link\`; each works once, for ten minutes.${browser}`,
    body: body('SignInLink', linkBody, 'The token of a link', { token }),
    answer: answers.signedIn,
    done: 'The session has started.',
    setsCookie: true,
    errors: ['INVALID_TOKEN', 'EMAIL_NOT_VERIFIED', 'FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  renewToken: {
    operationId: 'renewToken',
    summary: 'Get the next access token',
    description: `Needs the session cookie. The session is extended to 30 days again once it is one day old.${browser}`,
    answer: answers.token,
    done: 'The next token.',
    credentials: ['Session'],
    setsCookie: true,
    errors: ['FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  logOut: {
    operationId: 'logOut',
    summary: 'Sign out',
    description: `Ends the session of the cookie and the session of the token at once, with their tokens and streams.${browser}`,
    answer: answers.loggedOut,
    done: 'The sessions have ended.',
    credentials: ['Session', 'AccessToken'],
    credentialOptional: true,
    setsCookie: true,
    errors: ['FORBIDDEN'],
  },
  forgotPassword: {
    operationId: 'forgotPassword',
    summary: 'Request a mail to reset the password',
    description: 'Sends the mail if an account with this address exists. The response is the same for every address.',
    body: body('ForgottenPassword', forgotBody, 'An address', { email }),
    answer: answers.accepted,
    done: 'A mail is sent if the account exists.',
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  resetPassword: {
    operationId: 'resetPassword',
    summary: 'Set a password with the token of a mail',
    description:
      'The token is valid for one hour and works once. All sessions of the account end, the API keys and open invitations that were created with it are revoked, and its address counts as verified.',
    body: body('PasswordReset', resetBody, 'The token of the mail', { token, password: newPassword }),
    answer: answers.changed,
    done: 'The password is set.',
    errors: ['INVALID_TOKEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  changePassword: {
    operationId: 'changePassword',
    summary: 'Change your password',
    description:
      'Needs the current password. All other sessions of the user end. After five wrong passwords in 15 minutes the waiting time between attempts grows.',
    body: body('PasswordChange', changeBody, 'A new password', { currentPassword: password, newPassword }),
    answer: answers.changed,
    done: 'The password is set.',
    credentials: ['AccessToken'],
    errors: ['INVALID_CREDENTIALS', 'INVALID_STATE', 'CONFLICT', 'API_RATE_LIMIT_EXCEEDED'],
  },
  listSessions: {
    operationId: 'listSessions',
    summary: 'List your sessions',
    description: 'Your sessions, newest first.',
    answer: answers.sessions,
    done: 'Your sessions.',
    credentials: ['AccessToken'],
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  endSession: {
    operationId: 'endSession',
    summary: 'End one of your sessions',
    description: 'Its tokens and streams end at once.',
    pathParameters: sessionPath,
    answer: answers.ended,
    done: 'The session has ended.',
    credentials: ['AccessToken'],
    errors: ['NOT_FOUND', 'API_RATE_LIMIT_EXCEEDED'],
  },
  showKeys: {
    operationId: 'showKeys',
    summary: 'Read the public keys that verify access tokens',
    description:
      'A JSON Web Key Set without an envelope, for services that verify access tokens. A valid signature does not prove that the session still exists; only the gateway knows that.',
    answer: answers.keys,
    done: 'The keys.',
  },
  leaveForProvider: {
    operationId: 'leaveForProvider',
    summary: 'Sign in through an identity provider',
    description:
      'For browsers: redirects to the identity provider, if one is configured. The provider redirects to the callback. ' +
      toldToBrowsers,
    pathParameters: provider,
    query: leaveQuery,
    answer: null,
    done: 'Redirects to the provider.',
    setsCookie: true,
    errors: ['VALIDATION_ERROR', 'NOT_FOUND', 'API_RATE_LIMIT_EXCEEDED'],
  },
  returnFromProvider: {
    operationId: 'returnFromProvider',
    summary: 'Return from an identity provider',
    description: `For browsers: redirects to the console, with a session, or with the reason of the failure as \`?error=\`. ${toldToBrowsers}`,
    pathParameters: provider,
    query: callbackQuery,
    answer: null,
    done: 'Redirects to the console.',
    setsCookie: true,
    errors: ['VALIDATION_ERROR', 'NOT_FOUND', 'FORBIDDEN'],
  },
} satisfies Record<string, Described>
