// The open invitations to teams: if an address has one, and their revocation.
import type { Tx } from '../core/database/transaction.ts'
import type { Prisma } from '../generated/prisma/client.ts'

/** Condition for the invitations that can be accepted at present. */
export function openInvitation() {
  return { status: 'pending', expiresAt: { gt: new Date() } } as const
}

/** Implements `Hooks.isInvited` (core/app.ts). */
export async function isInvited(db: Prisma.TransactionClient, email: string): Promise<boolean> {
  const where = { ...openInvitation(), email: email.toLowerCase(), team: { deletedAt: null } }
  return (await db.teamInvitation.count({ where })) > 0
}

/** Revokes the pending invitations among those of `where`. */
export async function revokePending({ db }: Tx, where: Prisma.TeamInvitationWhereInput): Promise<void> {
  await db.teamInvitation.updateMany({ where: { ...where, status: 'pending' }, data: { status: 'revoked' } })
}

/** Implements `Hooks.revokeInvitations` (core/app.ts): those to the person's own teams, and those that they sent for other teams. */
export async function revokeInvitations(tx: Tx, userId: string): Promise<void> {
  await revokePending(tx, { OR: [{ team: { ownerId: userId } }, { inviterId: userId }] })
}
