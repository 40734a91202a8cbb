// Response schemas of the identity routes, for the OpenAPI document.
import { z } from 'zod'
import type { ConsoleUser } from './auth-call.ts'
import type { ListedSession } from './sessions.ts'
import type { Token } from './sign-in.ts'

/** A record as JSON: dates become strings. */
type Shape<Sent> = { [Name in keyof Sent]-?: z.ZodType<Sent[Name] extends Date ? string : Sent[Name]> }

const moment = z.iso.datetime()

const personFields = {
  id: z.uuid().describe("The user's id."),
  email: z.string().describe('The e-mail address.'),
  name: z.string().describe('The name.'),
  emailVerified: z.boolean().describe('True if the address is verified.'),
  createdAt: moment.describe('When the account was created.'),
} satisfies Shape<ConsoleUser>

const tokenFields = {
  accessToken: z.string().describe('The access token, to be sent as `Authorization: Bearer`.'),
  expiresIn: z.int().describe('The lifetime of the token, in seconds.'),
} satisfies Shape<Token>

const sessionFields = {
  id: z.uuid().describe('Its id.'),
  current: z.boolean().describe('True if it is the session of this request.'),
  ipAddress: z.string().nullable().describe('The IP address that started the session.'),
  userAgent: z.string().nullable().describe('The browser that started the session.'),
  createdAt: moment.describe('When it started.'),
  expiresAt: moment.describe('When it expires, unless it is used before.'),
} satisfies Shape<ListedSession>

const person = z.object(personFields).meta({ id: 'Person', description: 'A user.' })

/** Returns the schema of a response that only says that something was done. */
function done(id: string, field: string, description: string): z.ZodType {
  return z.object({ [field]: z.literal(true).describe(description) }).meta({ id, description })
}

export const answers = {
  signedUp: z
    .object({ user: person.describe('The new account. The response is the same if the address already has one.') })
    .meta({ id: 'SignedUp', description: 'A new account, whose address is not verified yet.' }),
  verified: done('Verified', 'verified', 'The address is verified.'),
  accepted: done('Accepted', 'accepted', 'The request was accepted.'),
  signedIn: z
    .object({ ...tokenFields, user: person.describe('The user who signed in.') })
    .meta({ id: 'SignedIn', description: 'A new session: its first access token and its user.' }),
  token: z.object(tokenFields).meta({ id: 'AccessToken', description: 'An access token.' }),
  loggedOut: done('LoggedOut', 'loggedOut', 'The session has ended.'),
  changed: done('PasswordChanged', 'changed', 'The password is set.'),
  sessions: z.array(z.object(sessionFields).meta({ id: 'Session', description: 'A session of a user.' })),
  ended: z
    .object({ id: z.uuid().describe("The session's id."), deleted: z.literal(true).describe('The session has ended.') })
    .meta({ id: 'EndedSession', description: 'A session that has ended.' }),
  keys: z
    .object({
      keys: z
        .array(
          z
            .object({
              kid: z.uuid().describe("The key's id, as in the header of a token."),
              alg: z.literal('EdDSA').describe('The signature algorithm.'),
              kty: z.literal('OKP').describe('The key type.'),
              crv: z.literal('Ed25519').describe('Its curve.'),
              x: z.string().describe('The public key, base64url.'),
            })
            .meta({ id: 'SigningKey', description: 'A public key as RFC 7517 has it.' }),
        )
        .describe('The current signing key, and earlier keys whose tokens may still be valid.'),
    })
    .meta({ id: 'SigningKeys', description: 'The public keys that verify access tokens.' }),
}
