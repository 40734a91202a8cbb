// Open invitations end where the person may not have made them.
import type { Sql } from '../core/database/database.ts'

/** Takes back the open invitations to that person's own teams, and those that the person sent for others, in the caller's transaction. */
export async function revokeInvitations(tx: Sql, userId: string): Promise<void> {
  await tx.query(
    `update team_invitations i set status = 'revoked' from teams t
      where t.id = i."teamId" and (t."ownerId" = $1 or i."inviterId" = $1) and i.status = 'pending'`,
    [userId],
  )
}
