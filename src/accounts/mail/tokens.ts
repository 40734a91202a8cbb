// One-time tokens in mails and links, each for one account. Only their SHA-256 digest is stored.
import { createHash, randomBytes } from 'node:crypto'
import type { Tx } from '../../core/database/transaction.ts'
import { dayMs, hourMs, minuteMs } from '../../core/durations.ts'
import { newId } from '../../core/id.ts'
import type { Prisma } from '../../generated/prisma/client.ts'

export type Purpose = 'verify-email' | 'reset-password' | 'sign-in'

const lastsMs: Record<Purpose, number> = { 'verify-email': dayMs, 'reset-password': hourMs, 'sign-in': 10 * minuteMs }

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
export async function keepMailToken({ db }: Tx, purpose: Purpose, token: string, userId: string): Promise<void> {
  const expiresAt = new Date(Date.now() + lastsMs[purpose])
  const data = { id: newId(), identifier: identifierOf(purpose, token), value: markOf(purpose, userId), expiresAt }
  await db.authVerification.create({ data })
}

function validToken(purpose: Purpose, token: string): Prisma.AuthVerificationWhereInput {
  return { identifier: identifierOf(purpose, token), expiresAt: { gt: new Date() } }
}

/** Returns the user id of a valid token without using it up; undefined for any other token. */
export async function ownerOfMailToken(
  db: Prisma.TransactionClient,
  purpose: Purpose,
  token: string,
): Promise<string | undefined> {
  const found = await db.authVerification.findFirst({ where: validToken(purpose, token), select: { value: true } })
  return found?.value.slice(markOf(purpose, '').length)
}

/** Uses the token up. Returns false if another request has used it, or if it is expired or void. */
export async function takeMailToken({ db }: Tx, purpose: Purpose, token: string): Promise<boolean> {
  return (await db.authVerification.deleteMany({ where: validToken(purpose, token) })).count > 0
}

/** True if the account has a token that is still valid, for any purpose. */
export async function hasMailToken({ db }: Tx, userId: string): Promise<boolean> {
  const values = (Object.keys(lastsMs) as Purpose[]).map((purpose) => markOf(purpose, userId))
  return (await db.authVerification.count({ where: { value: { in: values }, expiresAt: { gt: new Date() } } })) > 0
}

/** Makes the account's tokens for that purpose void. */
export async function voidMailTokens({ db }: Tx, purpose: Purpose, userId: string): Promise<void> {
  await db.authVerification.deleteMany({ where: { value: markOf(purpose, userId) } })
}
