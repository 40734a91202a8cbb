// The keys that sign access tokens are kept encrypted under a secret made of SECRET_KEY.
import { createHmac } from 'node:crypto'
import { symmetricDecrypt } from 'better-auth/crypto'
import type { Sql } from '../../core/database/database.ts'

/** What better-auth signs and encrypts with. */
export function identitySecret(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('identity').digest('hex')
}

/** Whether this SECRET_KEY opens the key that signs now, without which nobody can sign in; undefined where there is none yet. */
export async function opensSigningKey(sql: Sql, secretKey: Buffer): Promise<boolean | undefined> {
  const { rows } = await sql.query<{ key: string }>(
    `select "privateKey" as key from auth_jwks where "expiresAt" is null or "expiresAt" > now() order by "createdAt" desc limit 1`,
  )
  if (!rows[0]) return undefined
  // better-auth keeps it as JSON text.
  const opened = symmetricDecrypt({ key: identitySecret(secretKey), data: JSON.parse(rows[0].key) })
  return await opened.then(
    () => true,
    () => false,
  )
}
