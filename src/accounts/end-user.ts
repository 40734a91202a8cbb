// Ends a user: access ends at once, and so does the identity. The row stays, because messages of teams may refer to it.
import type { Tx } from '../core/database/transaction.ts'
import { revokeKeys } from './keys/api-keys.ts'
import { voidMailTokens } from './mail/tokens.ts'

/** Ends sessions, keys and credentials of a locked user, and frees the address. */
export async function endUser(tx: Tx, userId: string): Promise<void> {
  await tx.db.authSession.deleteMany({ where: { userId } })
  await tx.db.authAccount.deleteMany({ where: { userId } })
  await voidMailTokens(tx, 'sign-in', userId)
  await revokeKeys(tx, { userId })
  const identity = { email: `${userId}@deleted.invalid`, name: 'Deleted account', emailVerified: false, image: null }
  await tx.db.user.update({ where: { id: userId }, data: { ...identity, endedAt: new Date() } })
}
