// Tells if an address has an open invitation, for sign-ups that need one.
import type { Db } from '../core/database/database.ts'

/** Implements `Hooks.isInvited` (core/app.ts). */
export async function isInvited(db: Db, email: string): Promise<boolean> {
  const where = {
    email: email.toLowerCase(),
    status: 'pending',
    expiresAt: { gt: new Date() },
    team: { deletedAt: null },
  } as const
  return (await db.teamInvitation.count({ where })) > 0
}
