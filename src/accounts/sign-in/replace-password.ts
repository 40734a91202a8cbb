// Replaces a password. Sessions end, links that sign in or set a password become void, and failed logins are cleared.
import type { Tx } from '../../core/database/transaction.ts'
import { storeCredential } from '../credential.ts'
import { voidMailTokens } from '../mail/tokens.ts'
import { forgetTries } from './login-guard.ts'

interface Replacement {
  userId: string
  email: string
  /** Hash of the new password. Compute it before the transaction begins, because hashing may wait long for its turn. */
  hash: string
  /** The one session that is kept. */
  keepSessionId?: string
}

/** Runs in the caller's transaction, which must begin with `lockUser`. */
export async function replacePassword(tx: Tx, { userId, email, hash, keepSessionId }: Replacement): Promise<void> {
  await storeCredential(tx, userId, hash)
  await tx.db.authSession.deleteMany({ where: { userId, id: { not: keepSessionId } } })
  await voidMailTokens(tx, 'reset-password', userId)
  await voidMailTokens(tx, 'sign-in', userId)
  await forgetTries(tx, email)
}
