// Checks that SECRET_KEY is the one that this database's secrets were encrypted with.
import { opensSigningKey } from '../accounts/sign-in/signing-key.ts'
import type { Sql } from '../core/database/database.ts'
import { createSealer } from '../core/seal.ts'
import { newestWebhookSecret } from './doctor.sql.ts'

/** Message for the operator when SECRET_KEY is another one. */
export const foreignKey = 'SECRET_KEY is not the key that encrypted the stored secrets; restore the original key'

/** Tries the newest secret of each kind. Undefined when nothing is encrypted yet. */
export async function opensStored(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const opened = [await opensWebhookSecret(sql, secretKey), await opensSigningKey(sql, secretKey)]
  if (opened.includes(false)) return false
  return opened.includes(true) || undefined
}

/** Undefined when no endpoint exists. */
async function opensWebhookSecret(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const secret = await newestWebhookSecret(sql)
  return secret && createSealer(secretKey).tryOpen(secret) !== undefined
}
