// The keys that sign access tokens are encrypted under a secret derived from SECRET_KEY.
import { createHmac } from 'node:crypto'
import type { Db, Sql } from '../../core/database/database.ts'
import { newestSigningKey } from './signing-key.sql.ts'

/** Returns the secret that better-auth signs and encrypts with. */
export function identitySecret(secretKey: Buffer): string {
  return createHmac('sha256', secretKey).update('identity').digest('hex')
}

/**
 * The stored private key (JSON text, as better-auth stores it) under SECRET_KEY: unchanged if it is, else encrypted again. Undefined if
 * neither key decrypts it.
 */
export async function resealSigningKey(stored: string, secretKey: Buffer, previous?: Buffer): Promise<string | undefined> {
  const key = identitySecret(secretKey)
  if ((await decrypted(key, stored)) !== undefined) return stored
  const plain = previous && (await decrypted(identitySecret(previous), stored))
  if (plain === undefined) return undefined
  const { symmetricEncrypt } = await import('better-auth/crypto')
  return JSON.stringify(await symmetricEncrypt({ key, data: plain }))
}

/** True if one of the keys decrypts the current signing key. Otherwise nobody can sign in. Returns undefined if there is no key yet. */
export async function opensSigningKey(sql: Sql, secretKey: Buffer, previous?: Buffer): Promise<boolean | undefined> {
  const stored = await newestSigningKey(sql)
  return stored === undefined ? undefined : (await resealSigningKey(stored, secretKey, previous)) !== undefined
}

/** The signing keys as better-auth reads them during a change of SECRET_KEY: it knows the current key only. */
export async function signingKeys(db: Db, secretKey: Buffer, previous: Buffer) {
  const rows = await db.authJwk.findMany()
  return await Promise.all(
    rows.map(async ({ id, publicKey, privateKey, createdAt, expiresAt }) => ({
      id,
      publicKey,
      privateKey: (await resealSigningKey(privateKey, secretKey, previous)) ?? privateKey,
      createdAt,
      ...(expiresAt && { expiresAt }),
    })),
  )
}

async function decrypted(key: string, stored: string): Promise<string | undefined> {
  const { symmetricDecrypt } = await import('better-auth/crypto')
  try {
    return await symmetricDecrypt({ key, data: JSON.parse(stored) as string })
  } catch {
    return undefined
  }
}
