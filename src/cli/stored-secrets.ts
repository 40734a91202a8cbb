// Checks that SECRET_KEY or SECRET_KEY_PREVIOUS is the one that this database's secrets were encrypted with.
import { opensSigningKey } from '../accounts/sign-in/signing-key.ts'
import type { Sql } from '../core/database/database.ts'
import { createSealer } from '../core/seal.ts'
import { newestInstanceSecrets, newestWebhookSecret } from './doctor.sql.ts'

/** Message for the operator when SECRET_KEY is another one. */
export const foreignKey = 'SECRET_KEY is not the key that encrypted the stored secrets; restore the original key'

/** Tries the newest secret of each kind. Undefined when nothing is encrypted yet. */
export async function opensStored(sql: Sql, secretKey: Buffer, previous?: Buffer): Promise<boolean | undefined> {
  const sealer = createSealer(secretKey, previous)
  const sealed = [await newestWebhookSecret(sql), await newestInstanceSecrets(sql)]
  const opened = sealed.map((secret) => secret && sealer.tryOpen(secret) !== undefined)
  opened.push(await opensSigningKey(sql, secretKey, previous))
  if (opened.includes(false)) return false
  return opened.includes(true) || undefined
}
