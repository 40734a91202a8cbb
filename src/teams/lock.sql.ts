// SQL of teams: the row locks of a team and of a membership.
import type { Sql } from '../core/database/database.ts'
import type { TeamRole } from '../core/principal.ts'

export interface LockedTeam {
  id: string
  workspaceId: string
  ownerId: string
  name: string
}

/** Locks a team (FOR NO KEY UPDATE), so that changes to it, its members and its invitations run one after another. */
export async function lockTeam(tx: Sql, teamId: string): Promise<LockedTeam | undefined> {
  const { rows } = await tx.query<LockedTeam>(
    'select id, "workspaceId", "ownerId", name from teams where id = $1 and "deletedAt" is null for no key update',
    [teamId],
  )
  return rows[0]
}

/** Locks a membership (FOR SHARE), which conflicts with removals and role changes, not with reads. Returns the role. */
export async function lockRole(tx: Sql, teamId: string, userId: string): Promise<TeamRole | undefined> {
  const { rows } = await tx.query<{ role: TeamRole }>(
    'select role::text as role from team_members where "teamId" = $1 and "userId" = $2 for share',
    [teamId, userId],
  )
  return rows[0]?.role
}
