// Locks the team of an operation for its transaction, and reads the caller's role under that lock.

import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Principal, TeamRole } from '../core/principal.ts'

export interface HeldTeam {
  id: string
  workspaceId: string
  ownerId: string
  name: string
}

export type JoinedTeam = HeldTeam & { role: TeamRole }

/** Takes a row lock (FOR NO KEY UPDATE) on a team, so that changes to it, its members and its invitations run one after another. */
export async function holdTeam(tx: Sql, teamId: string): Promise<HeldTeam | undefined> {
  const { rows } = await tx.query<HeldTeam>(
    'select id, "workspaceId", "ownerId", name from teams where id = $1 and "deletedAt" is null for no key update',
    [teamId],
  )
  return rows[0]
}

/**
 * {@link holdTeam} for a member, with the role as read under the lock. For an outsider the team does not exist, and nothing is locked.
 * @throws TEAM_NOT_FOUND when there is no such team or the user is not in it.
 */
export async function holdOwnTeam(tx: Sql, userId: string, teamId: string): Promise<JoinedTeam> {
  if (!(await roleIn(tx, userId, teamId))) fail('TEAM_NOT_FOUND')
  const team = (await holdTeam(tx, teamId)) ?? fail('TEAM_NOT_FOUND')
  const role = (await roleIn(tx, userId, teamId)) ?? fail('TEAM_NOT_FOUND')
  return { ...team, role }
}

async function roleIn(tx: Sql, userId: string, teamId: string): Promise<TeamRole | undefined> {
  const { rows } = await tx.query<{ role: TeamRole }>(
    'select role::text as role from team_members where "teamId" = $1 and "userId" = $2',
    [teamId, userId],
  )
  return rows[0]?.role
}

/** Implements `App.holdRole` (core/roles.ts). FOR SHARE conflicts with removals, role changes and key revocations, not with reads. */
export async function holdRole(tx: Sql, { kind, credentialId, userId, teamId }: Principal): Promise<TeamRole | null> {
  if (teamId === null) return null
  if (kind === 'team') {
    const { rowCount } = await tx.query('select from api_keys where id = $1 and "revokedAt" is null for share', [credentialId])
    return rowCount ? null : fail('UNAUTHORIZED')
  }
  const { rows } = await tx.query<{ role: TeamRole }>(
    'select role::text as role from team_members where "teamId" = $1 and "userId" = $2 for share',
    [teamId, userId],
  )
  return rows[0]?.role ?? fail('TEAM_NOT_FOUND')
}
