// The keys that sign access tokens are encrypted under a secret derived from SECRET_KEY.
import { createHmac } from 'node:crypto'
import { symmetricDecrypt } from 'better-auth/crypto'
import type { Sql } from '../../core/database/database.ts'
import { newestSigningKey } from './signing-key.sql.ts'

/** Returns the secret that better-auth signs and encrypts with. */
export function identitySecret(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('identity').digest('hex')
}

/** True if this SECRET_KEY decrypts the current signing key. Otherwise nobody can sign in. Returns undefined if there is no key yet. */
export async function opensSigningKey(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const key = await newestSigningKey(sql)
  if (!key) return undefined
  // better-auth stores the encrypted key as JSON text.
  const opened = symmetricDecrypt({ key: identitySecret(secretKey), data: JSON.parse(key) })
  return await opened.then(
    () => true,
    () => false,
  )
}
