// One-time tokens in mails, each for one account. Only their SHA-256 digest is stored.
import { createHash, randomBytes } from 'node:crypto'
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'

export type Purpose = 'verify-email' | 'reset-password'

const lasts: Record<Purpose, string> = { 'verify-email': '1 day', 'reset-password': '1 hour' }

/** Returns 192 random bits as base64url. */
export function newMailToken(): string {
  return randomBytes(24).toString('base64url')
}

function identifierOf(purpose: Purpose, token: string): string {
  return createHash('sha256').update(`${purpose}:${token}`).digest('base64url')
}

/** Returns the `value` column of a token. Reset tokens hold the bare user id, because processes of earlier versions write and delete it. */
function markOf(purpose: Purpose, userId: string): string {
  return purpose === 'reset-password' ? userId : `${purpose}:${userId}`
}

/** Stores a token. Call it in the transaction that queues the mail. */
export async function keepMailToken(tx: Sql, purpose: Purpose, token: string, userId: string): Promise<void> {
  await tx.query(
    `insert into auth_verifications (id, identifier, value, "expiresAt") values ($1, $2, $3, now() + $4::interval)`,
    [newId(), identifierOf(purpose, token), markOf(purpose, userId), lasts[purpose]],
  )
}

/** Returns the user id of a valid token without using it up; undefined for any other token. */
export async function ownerOfMailToken(sql: Sql, purpose: Purpose, token: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ value: string }>(
    'select value from auth_verifications where identifier = $1 and "expiresAt" > now()',
    [identifierOf(purpose, token)],
  )
  return rows[0]?.value.slice(markOf(purpose, '').length)
}

/** Uses the token up. Returns false if another request has used it, or if it is expired or void. */
export async function takeMailToken(tx: Sql, purpose: Purpose, token: string): Promise<boolean> {
  const { rowCount } = await tx.query('delete from auth_verifications where identifier = $1 and "expiresAt" > now()', [
    identifierOf(purpose, token),
  ])
  return Boolean(rowCount)
}

/** Makes the account's tokens for that purpose void. */
export async function voidMailTokens(tx: Sql, purpose: Purpose, userId: string): Promise<void> {
  await tx.query('delete from auth_verifications where value = $1', [markOf(purpose, userId)])
}
