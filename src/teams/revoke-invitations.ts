// Revokes open invitations that somebody other than the owner of the account may have made.
import type { Tx } from '../core/database/transaction.ts'

/** Revokes the open invitations to the person's own teams, and those that they sent for other teams, in the caller's transaction. */
export async function revokeInvitations({ db }: Tx, userId: string): Promise<void> {
  const theirs = [{ team: { ownerId: userId } }, { inviterId: userId }]
  await db.teamInvitation.updateMany({ where: { status: 'pending', OR: theirs }, data: { status: 'revoked' } })
}
