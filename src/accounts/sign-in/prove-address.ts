// Marks an address as verified, and revokes what others may have created with the account before.
import type { Tx } from '../../core/database/transaction.ts'
import { unlinkProviders } from '../credential.ts'
import { revokeKeys } from '../keys/api-keys.ts'
import { voidMailTokens } from '../mail/tokens.ts'

export type RevokeInvitations = (tx: Tx, userId: string) => Promise<void>

/**
 * Marks the address of an account as verified, in the caller's transaction, which must begin with `lockUser`. Somebody else may have used
 * the account before, so its sessions end, its API keys and open invitations are revoked, and its tokens to verify the address become void.
 * Links to an identity provider that were made while the address was unverified are deleted: the provider did not vouch for it. The
 * password stays: it is the one of the sign-up whose mail was read, or the one that the reset has just set.
 */
export async function proveAddress(tx: Tx, userId: string, revokeInvitations: RevokeInvitations): Promise<void> {
  await unlinkProviders(tx, userId)
  await tx.db.user.update({ where: { id: userId }, data: { emailVerified: true } })
  await tx.db.authSession.deleteMany({ where: { userId } })
  await revokeKeys(tx, { userId })
  await revokeInvitations(tx, userId)
  await voidMailTokens(tx, 'verify-email', userId)
}
