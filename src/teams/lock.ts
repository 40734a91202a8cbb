// Locks the team of an operation for its transaction, and reads the caller's role under that lock.
import { lockActiveKey } from '../accounts/keys/keys.sql.ts'
import { lockPlan } from '../billing/lock-plan.ts'
import type { Sql } from '../core/database/database.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import type { Principal, TeamRole } from '../core/principal.ts'
import { type LockedTeam, lockRole, lockTeam } from './lock.sql.ts'

export type JoinedTeam = LockedTeam & { role: TeamRole }

/** Locks the subscription that pays for a team, and then the team, for what counts against the plan. The owner of a team never changes. */
export async function lockPaidTeam(tx: Tx, teamId: string): Promise<LockedTeam | undefined> {
  const team = await tx.db.team.findUnique({ where: { id: teamId, deletedAt: null }, select: { ownerId: true } })
  if (!team) return undefined
  await lockPlan(tx, team.ownerId)
  return await lockTeam(tx, teamId)
}

/**
 * Locks a team for a member by `lock`, with the role as read under the lock. For an outsider the team does not exist, and nothing is locked.
 * @throws TEAM_NOT_FOUND when there is no such team or the user is not in it.
 */
export async function lockOwnTeam(
  tx: Tx,
  userId: string,
  teamId: string,
  lock: typeof lockPaidTeam = lockTeam,
): Promise<JoinedTeam> {
  if (!(await roleIn(tx, userId, teamId))) fail('TEAM_NOT_FOUND')
  const team = (await lock(tx, teamId)) ?? fail('TEAM_NOT_FOUND')
  const role = (await roleIn(tx, userId, teamId)) ?? fail('TEAM_NOT_FOUND')
  return { ...team, role }
}

async function roleIn({ db }: Tx, userId: string, teamId: string): Promise<TeamRole | undefined> {
  const member = await db.teamMember.findUnique({ where: { teamId_userId: { teamId, userId } }, select: { role: true } })
  return member?.role
}

/** Implements `Hooks.lockCallerRole` (core/app.ts): later removals, role changes and key revocations wait for the transaction. */
export async function lockCallerRole(tx: Sql, { kind, credentialId, userId, teamId }: Principal): Promise<TeamRole | null> {
  if (teamId === null) return null
  if (kind === 'team') return (await lockActiveKey(tx, credentialId)) ? null : fail('UNAUTHORIZED')
  return (await lockRole(tx, teamId, userId)) ?? fail('TEAM_NOT_FOUND')
}
