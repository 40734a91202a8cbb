// The members of a team: changes of role, removal, leaving.
import { revokeKeys } from '../accounts/keys/api-keys.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { manages, requireManager } from '../core/roles.ts'
import type { GivenRole } from './input.ts'
import type { LockedTeam } from './lock.sql.ts'
import { lockOwnTeam } from './lock.ts'
import { revokePending } from './open-invitations.ts'
import { type MemberRow, memberFields, memberRow } from './read.ts'

/**
 * Changes the role of a member. If the new role is collaborator, the keys and open invitations of the team that they created as an admin
 * end, because these allow more than a collaborator may do. Their webhook endpoints stay: they deliver what a collaborator may read.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; NOT_FOUND when the user is not a
 * member; INVALID_STATE when the user is the owner or the caller.
 */
export async function changeRole(ctx: Context, teamId: string, userId: string, role: GivenRole): Promise<MemberRow> {
  return await write(ctx, async (tx) => {
    const team = await lockMember(ctx, tx, teamId, userId, 'The role of the owner cannot be changed')
    if (userId === ctx.principal.userId) fail('INVALID_STATE', 'You cannot change your own role')
    const where = { teamId_userId: { teamId, userId } }
    const changed = await tx.db.teamMember.update({ where, data: { role }, select: memberFields })
    if (!manages(role)) await endGrants(tx, team, userId)
    await touch(tx, teamId)
    return memberRow(changed)
  })
}

/** Ends the membership with {@link endMembership}. @throws the errors of {@link changeRole}, but callers may remove themselves. */
export async function removeMember(ctx: Context, teamId: string, userId: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const team = await lockMember(ctx, tx, teamId, userId, 'The owner cannot be removed from a team')
    await endMembership(ctx, tx, team, userId)
    return { id: userId, deleted: true }
  })
}

/**
 * Ends the caller's own membership.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; INVALID_STATE when the caller is the owner.
 */
export async function leaveTeam(ctx: Context, teamId: string): Promise<{ id: string; left: true }> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const team = await lockOwnTeam(tx, userId, teamId)
    if (team.role === 'owner') fail('INVALID_STATE', 'The owner cannot leave a team, but can delete it')
    await endMembership(ctx, tx, team, userId)
    return { id: teamId, left: true }
  })
}

/** Locks the team. Checks that the caller manages members, and that the user is a member other than the owner. */
async function lockMember(ctx: Context, tx: Tx, teamId: string, userId: string, ofOwner: string): Promise<LockedTeam> {
  const team = await lockOwnTeam(tx, ctx.principal.userId, teamId)
  requireManager(team)
  if ((await tx.db.teamMember.count({ where: { teamId, userId } })) === 0) fail('NOT_FOUND', 'Member not found')
  if (userId === team.ownerId) fail('INVALID_STATE', ofOwner)
  return team
}

/**
 * Ends a person's access at once, and all access that would outlive it: the keys that they created are revoked, their open invitations
 * withdrawn, their webhook endpoints disabled. Data stays with the team: messages, contacts, campaigns, instances.
 */
export async function endMembership({ app }: Pick<Context, 'app'>, tx: Tx, team: LockedTeam, userId: string): Promise<void> {
  await tx.db.teamMember.deleteMany({ where: { teamId: team.id, userId } })
  await endGrants(tx, team, userId)
  await app.hooks.disableEndpoints(tx, team.workspaceId, userId)
  await touch(tx, team.id)
}

/** Revokes the keys and open invitations that a manager created, because they give others access. */
async function endGrants(tx: Tx, { id: teamId }: LockedTeam, userId: string): Promise<void> {
  await revokeKeys(tx, { teamId, userId })
  await revokePending(tx, { teamId, inviterId: userId })
}

/** Updates `updatedAt` of the team. A change of its members counts as a change of the team. */
export async function touch(tx: Tx, teamId: string): Promise<void> {
  await tx.db.team.update({ where: { id: teamId }, data: { updatedAt: new Date() } })
}
