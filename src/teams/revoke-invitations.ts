// Open invitations end where the owner of the teams may not have made them.
import type { Sql } from '../core/database.ts'

/** Takes back the open invitations to all teams of that owner, in the caller's transaction. */
export async function revokeInvitations(tx: Sql, ownerId: string): Promise<void> {
  await tx.query(
    `update team_invitations i set status = 'revoked' from teams t
      where t.id = i."teamId" and t."ownerId" = $1 and i.status = 'pending'`,
    [ownerId],
  )
}
