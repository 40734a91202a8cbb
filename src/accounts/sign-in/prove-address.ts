// Marks an address as verified, and revokes what others may have created with the account before.
import type { Sql } from '../../core/database/database.ts'
import { voidMailTokens } from '../mail/tokens.ts'

export type RevokeInvitations = (tx: Sql, userId: string) => Promise<void>

/**
 * Marks the address of an account as verified, in the caller's transaction, which must begin with `lockUser`. Somebody else may have used
 * the account before, so its sessions end, its API keys and open invitations are revoked, and its tokens to verify the address become void.
 * Links to an identity provider that were made while the address was unverified are deleted: the provider did not vouch for it. The
 * password stays: it is the one of the sign-up whose mail was read, or the one that the reset has just set.
 */
export async function proveAddress(tx: Sql, userId: string, revokeInvitations: RevokeInvitations): Promise<void> {
  await tx.query(
    `delete from auth_accounts a using users u
      where u.id = $1 and not u."emailVerified" and a."userId" = u.id and a."providerId" <> 'credential'`,
    [userId],
  )
  await tx.query('update users set "emailVerified" = true, "updatedAt" = now() where id = $1', [userId])
  await tx.query('delete from auth_sessions where "userId" = $1', [userId])
  await tx.query('update api_keys set "revokedAt" = now() where "userId" = $1 and "revokedAt" is null', [userId])
  await revokeInvitations(tx, userId)
  await voidMailTokens(tx, 'verify-email', userId)
}
