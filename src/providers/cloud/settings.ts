// Settings of an instance on Meta's Cloud API: the number and its account in plain text, the secrets sealed.
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { ProviderInstance } from '../provider.ts'
import type { Secrets } from '../settings.ts'

/** Ids of the Graph API are numbers, and stand in the paths of its addresses. */
const graphId = z.string().regex(/^\d{1,32}$/, 'must be the id that Meta shows, digits only')

/** A secret travels in a header, or is compared with one. */
const secret = (max: number) =>
  z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be printable ASCII without spaces')
    .max(max)

export const settings = z.strictObject({
  phoneNumberId: graphId,
  businessAccountId: graphId,
  accessToken: secret(1000),
  appSecret: secret(200),
  /** Meta repeats it when it verifies the address of the webhook. */
  verifyToken: secret(200).default(() => randomBytes(24).toString('base64url')),
  /** The number's two-step verification code, with which a number is registered. */
  pin: z
    .string()
    .regex(/^\d{6}$/, 'must be six digits')
    .optional(),
})

export type CloudSettings = z.output<typeof settings>
export type CloudInstance = ProviderInstance<CloudSettings>
/** An instance whose secrets may be missing. */
export type KnownCloudInstance = ProviderInstance<Partial<CloudSettings>>

/** The webhook of a number that was logged out stays verifiable until the instance is deleted. */
export const secrets: Secrets<CloudSettings> = {
  accessToken: 'logout',
  appSecret: 'deletion',
  verifyToken: 'deletion',
  // The last one, because its six digits may occur in the others: see `secretsOf`.
  pin: 'logout',
}

/** The values of the secrets, in the order in which they are to be taken out of words; undefined for a missing one. */
export function secretsOf(settings: Partial<CloudSettings>): (string | undefined)[] {
  return (Object.keys(secrets) as (keyof CloudSettings)[]).map((name) => settings[name])
}
