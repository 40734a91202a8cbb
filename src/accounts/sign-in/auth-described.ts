// Descriptions of the identity routes for the OpenAPI document. Bodies and queries use the same schemas that the handlers parse with.
import { z } from 'zod'
import type { ErrorCode } from '../../core/errors.ts'
import { answers } from './auth-answers.ts'
import { changeBody } from './password-change.ts'
import { forgotBody, resetBody } from './password-reset.ts'
import { sessionPath } from './sessions.ts'
import { loginBody } from './sign-in.ts'
import { signUpBody } from './sign-up.ts'
import { callbackQuery } from './single-sign-on.ts'
import { emailBody, verifyBody } from './verify-email.ts'

interface Body {
  /** The name of the schema in the document. */
  name: string
  schema: z.ZodObject
  examples: Record<string, { summary: string; value: unknown }>
}

/** An accepted credential: an access token, or the session cookie. */
export type Proof = 'AccessToken' | 'Session'

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
  proofs?: readonly Proof[]
  /** Set if the route also works without a credential. */
  proofOptional?: true
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
const browser = ' A browser may ask from the pages of `PUBLIC_URL` and `CONSOLE_URL` alone.'
const provider = z.object({ provider: z.string().describe('What the identity provider is called here: `sso`.') })

export const described = {
  signUp: {
    operationId: 'signUp',
    summary: 'Sign up',
    description:
      'Makes an account and sends its address a mail to verify it by. It replaces an earlier sign-up whose address was not verified, and makes its mails void. Answers alike for an address that has an account; its owner reads so in a mail.',
    body: body('SignUp', signUpBody, 'An account', { email, password, name: 'Ada Lovelace' }),
    answer: answers.signedUp,
    done: 'A mail is on its way.',
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  verifyEmail: {
    operationId: 'verifyEmail',
    summary: 'Verify an e-mail address',
    description:
      'Takes the token of the mail, which holds for a day, once, until somebody signs up with the address again. From then on the account can sign in with the password of the sign-up that the mail is about; sessions, API keys and invitations from before end.',
    body: body('VerifyEmail', verifyBody, 'The token of the mail', { token }),
    answer: answers.verified,
    done: 'The address is verified.',
    errors: ['INVALID_TOKEN', 'INVALID_CREDENTIALS', 'API_RATE_LIMIT_EXCEEDED'],
  },
  resendVerification: {
    operationId: 'resendVerification',
    summary: 'Ask for the mail that verifies an address again',
    description: 'Sends it where an account of that address waits for it. Answers alike for every address.',
    body: body('MailAddress', emailBody, 'An address', { email }),
    answer: answers.accepted,
    done: 'A mail is on its way to whoever waits for one.',
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  logIn: {
    operationId: 'logIn',
    summary: 'Sign in with a password',
    description: `Begins a session of 30 days, which is a cookie, and answers its first access token. One network gets five failures in 15 minutes for one address, and where many networks fail for it, each further try waits longer. A second cookie makes the device known: its failures are counted for itself.${browser}`,
    body: body('Login', loginBody, 'Address and password', { email, password }),
    answer: answers.signedIn,
    done: 'The session has begun.',
    setsCookie: true,
    errors: ['INVALID_CREDENTIALS', 'EMAIL_NOT_VERIFIED', 'FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  renewToken: {
    operationId: 'renewToken',
    summary: 'Get the next access token',
    description: `Takes the session's cookie. The 30 days of a session that is a day old begin anew.${browser}`,
    answer: answers.token,
    done: 'The next token.',
    proofs: ['Session'],
    setsCookie: true,
    errors: ['FORBIDDEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  logOut: {
    operationId: 'logOut',
    summary: 'Sign out',
    description: `Ends the session of the cookie and that of the token, with all their tokens and streams, at once.${browser}`,
    answer: answers.loggedOut,
    done: 'No session is left of those that were shown.',
    proofs: ['Session', 'AccessToken'],
    proofOptional: true,
    setsCookie: true,
    errors: ['FORBIDDEN'],
  },
  forgotPassword: {
    operationId: 'forgotPassword',
    summary: 'Ask for a mail to set a password by',
    description: 'Sends it to whoever has an account of that address. Answers alike for every address.',
    body: body('ForgottenPassword', forgotBody, 'An address', { email }),
    answer: answers.accepted,
    done: 'A mail is on its way to whoever has an account.',
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  resetPassword: {
    operationId: 'resetPassword',
    summary: 'Set a password with the token of a mail',
    description:
      'The token holds for an hour, once. Every session of the account ends, the API keys and open invitations that were made with it are revoked, and its address is verified.',
    body: body('PasswordReset', resetBody, 'The token of the mail', { token, password: newPassword }),
    answer: answers.changed,
    done: 'The password is set.',
    errors: ['INVALID_TOKEN', 'API_RATE_LIMIT_EXCEEDED'],
  },
  changePassword: {
    operationId: 'changePassword',
    summary: 'Change your password',
    description:
      'Takes the present one. Every other session of yours ends. After five wrong ones in 15 minutes each further try waits longer.',
    body: body('PasswordChange', changeBody, 'Another password', { currentPassword: password, newPassword }),
    answer: answers.changed,
    done: 'The password is set.',
    proofs: ['AccessToken'],
    errors: ['INVALID_CREDENTIALS', 'INVALID_STATE', 'CONFLICT', 'API_RATE_LIMIT_EXCEEDED'],
  },
  listSessions: {
    operationId: 'listSessions',
    summary: 'List your sessions',
    description: 'Where you are signed in, newest first.',
    answer: answers.sessions,
    done: 'Your sessions.',
    proofs: ['AccessToken'],
    errors: ['API_RATE_LIMIT_EXCEEDED'],
  },
  endSession: {
    operationId: 'endSession',
    summary: 'End a session of yours',
    description: 'Its tokens and streams end with it, at once.',
    pathParameters: sessionPath,
    answer: answers.ended,
    done: 'It is over.',
    proofs: ['AccessToken'],
    errors: ['NOT_FOUND', 'API_RATE_LIMIT_EXCEEDED'],
  },
  showKeys: {
    operationId: 'showKeys',
    summary: 'Read the public keys of access tokens',
    description:
      'A JSON Web Key Set, in no envelope, for whoever checks tokens of ours. That the session is still there, only we know.',
    answer: answers.keys,
    done: 'The keys.',
  },
  leaveForProvider: {
    operationId: 'leaveForProvider',
    summary: 'Sign in through an identity provider',
    description: 'For browsers: leads to the provider, where one is set up, which leads back to the callback.',
    pathParameters: provider,
    answer: null,
    done: 'To the provider.',
    setsCookie: true,
    errors: ['NOT_FOUND', 'API_RATE_LIMIT_EXCEEDED'],
  },
  returnFromProvider: {
    operationId: 'returnFromProvider',
    summary: 'Come back from an identity provider',
    description: 'For browsers: leads to the console, with a session or with `?error=` and why there is none.',
    pathParameters: provider,
    query: callbackQuery,
    answer: null,
    done: 'To the console.',
    setsCookie: true,
    errors: ['VALIDATION_ERROR', 'NOT_FOUND'],
  },
} satisfies Record<string, Described>
