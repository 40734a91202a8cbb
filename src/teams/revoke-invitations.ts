// Revokes open invitations that somebody other than the owner of the account may have made.
import type { Sql } from '../core/database/database.ts'

/** Revokes the open invitations to the person's own teams, and those that they sent for other teams, in the caller's transaction. */
export async function revokeInvitations(tx: Sql, userId: string): Promise<void> {
  await tx.query(
    `update team_invitations i set status = 'revoked' from teams t
      where t.id = i."teamId" and (t."ownerId" = $1 or i."inviterId" = $1) and i.status = 'pending'`,
    [userId],
  )
}
