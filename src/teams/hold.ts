// The team that a verb is about, held for its transaction, and what the caller is in it at that moment.
import type { Principal, TeamRole } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'

export interface HeldTeam {
  id: string
  workspaceId: string
  ownerId: string
  name: string
}

export type JoinedTeam = HeldTeam & { role: TeamRole }

/** Holds a team, so that what is done to it, to its members and its invitations is done one after the other. */
export async function holdTeam(tx: Sql, teamId: string): Promise<HeldTeam | undefined> {
  const { rows } = await tx.query<HeldTeam>(
    'select id, "workspaceId", "ownerId", name from teams where id = $1 and "deletedAt" is null for no key update',
    [teamId],
  )
  return rows[0]
}

/**
 * {@link holdTeam} for somebody in it, with the role they have once nobody else is changing it. To an outsider the team is
 * as if there were none, and nothing is held for them. @throws TEAM_NOT_FOUND.
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

/** What `App.holdRole` promises (core/roles.ts). The lock conflicts with a removal, another role and a revoked key, not with reads. */
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
