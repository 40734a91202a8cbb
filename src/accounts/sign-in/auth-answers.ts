// Response schemas of the identity routes, for the OpenAPI document.
import { z } from 'zod'
import type { ConsoleUser } from './auth-call.ts'
import type { ListedSession } from './sessions.ts'
import type { Token } from './sign-in.ts'

/** A record as JSON: dates become strings. */
type Shape<Sent> = { [Name in keyof Sent]-?: z.ZodType<Sent[Name] extends Date ? string : Sent[Name]> }

const moment = z.iso.datetime()

const personFields = {
  id: z.uuid().describe('Who it is.'),
  email: z.string().describe('The e-mail address.'),
  name: z.string().describe('The name.'),
  emailVerified: z.boolean().describe('Whether the address was verified.'),
  createdAt: moment.describe('When the account was made.'),
} satisfies Shape<ConsoleUser>

const tokenFields = {
  accessToken: z.string().describe('To be sent as `Authorization: Bearer`.'),
  expiresIn: z.int().describe('For how long it holds, in seconds.'),
} satisfies Shape<Token>

const sessionFields = {
  id: z.uuid().describe('Its id.'),
  current: z.boolean().describe('Whether it is the one that asks.'),
  ipAddress: z.string().nullable().describe('Where it was begun from.'),
  userAgent: z.string().nullable().describe('The browser it was begun with.'),
  createdAt: moment.describe('When it was begun.'),
  expiresAt: moment.describe('When it ends, unless it is used until then.'),
} satisfies Shape<ListedSession>

const person = z.object(personFields).meta({ id: 'Person', description: 'Somebody with an account.' })

/** Returns the schema of a response that only says that something was done. */
function done(id: string, field: string, description: string): z.ZodType {
  return z.object({ [field]: z.literal(true).describe(description) }).meta({ id, description })
}

export const answers = {
  signedUp: z
    .object({ user: person.describe('The account as it begins; alike for an address that has one.') })
    .meta({ id: 'SignedUp', description: 'A new account, whose address is still to be verified.' }),
  verified: done('Verified', 'verified', 'The address is verified.'),
  accepted: done('Accepted', 'accepted', 'It is seen to, where there is anything to do.'),
  signedIn: z
    .object({ ...tokenFields, user: person.describe('Who signed in.') })
    .meta({ id: 'SignedIn', description: 'A session that has begun: its first access token, and whose it is.' }),
  token: z.object(tokenFields).meta({ id: 'AccessToken', description: 'What is shown to be let in.' }),
  loggedOut: done('LoggedOut', 'loggedOut', 'The session is over.'),
  changed: done('PasswordChanged', 'changed', 'The password is set.'),
  sessions: z.array(z.object(sessionFields).meta({ id: 'Session', description: 'Where somebody is signed in.' })),
  ended: z
    .object({ id: z.uuid().describe('Which session it was.'), deleted: z.literal(true).describe('It is over.') })
    .meta({ id: 'EndedSession', description: 'A session that was ended.' }),
  keys: z
    .object({
      keys: z
        .array(
          z
            .object({
              kid: z.uuid().describe("Which key it is, as a token's header names it."),
              alg: z.literal('EdDSA').describe('How it signs.'),
              kty: z.literal('OKP').describe('What kind of key it is.'),
              crv: z.literal('Ed25519').describe('Its curve.'),
              x: z.string().describe('The public key, base64url.'),
            })
            .meta({ id: 'SigningKey', description: 'A public key as RFC 7517 has it.' }),
        )
        .describe('The one that signs now, and those whose tokens may still hold.'),
    })
    .meta({ id: 'SigningKeys', description: 'The public keys that access tokens are signed with.' }),
}
