// Who is in a team: their roles, how they are removed, how they leave.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { manages, requireManager } from '../core/roles.ts'
import { type HeldTeam, holdOwnTeam } from './hold.ts'
import type { GivenRole } from './input.ts'
import { type MemberRow, memberColumns } from './read.ts'

declare module '../core/app.ts' {
  interface App {
    /** Disables the webhook endpoints of the workspace that the person made. */
    disableReceiversOf: (tx: Sql, workspaceId: string, userId: string) => Promise<void>
  }
}

/**
 * Gives a member another role. A collaborator keeps no key and no open invitation of the team that they made as an admin: these
 * do what a collaborator may not. Their webhook endpoints stay: they deliver what a collaborator may read.
 * @throws TEAM_NOT_FOUND, FORBIDDEN for collaborators, NOT_FOUND, INVALID_STATE for the owner's role and one's own.
 */
export async function changeRole(ctx: Context, teamId: string, userId: string, role: GivenRole): Promise<MemberRow> {
  return await write(ctx, async (tx) => {
    const team = await holdMember(ctx, tx, teamId, userId, 'The owner of a team cannot get another role')
    if (userId === ctx.principal.userId) fail('INVALID_STATE', 'Nobody changes their own role')
    const { rows } = await tx.query<MemberRow>(
      `update team_members m set role = $3 from users u where m."teamId" = $1 and m."userId" = $2 and u.id = m."userId"
       returning ${memberColumns}`,
      [teamId, userId, role],
    )
    if (!manages(role)) await endGrants(tx, team, userId)
    await touch(tx, teamId)
    return rows[0] as MemberRow
  })
}

/** Ends their membership as {@link endMembership}. @throws as {@link changeRole}, but for one's own. */
export async function removeMember(ctx: Context, teamId: string, userId: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const team = await holdMember(ctx, tx, teamId, userId, 'The owner cannot be removed from a team')
    await endMembership(ctx, tx, team, userId)
    return { id: userId, deleted: true }
  })
}

/** Ends one's own membership as {@link endMembership}. @throws TEAM_NOT_FOUND, INVALID_STATE for the owner. */
export async function leaveTeam(ctx: Context, teamId: string): Promise<{ id: string; left: true }> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const team = await holdOwnTeam(tx, userId, teamId)
    if (team.role === 'owner') fail('INVALID_STATE', 'The owner cannot leave a team, but can delete it')
    await endMembership(ctx, tx, team, userId)
    return { id: teamId, left: true }
  })
}

/** Holds the team, for somebody who manages members, one of whom the user is, and not its owner. */
async function holdMember(ctx: Context, tx: Sql, teamId: string, userId: string, ofOwner: string): Promise<HeldTeam> {
  const team = await holdOwnTeam(tx, ctx.principal.userId, teamId)
  requireManager(team)
  const { rowCount } = await tx.query('select from team_members where "teamId" = $1 and "userId" = $2', [teamId, userId])
  if (!rowCount) fail('NOT_FOUND', 'Member not found')
  if (userId === team.ownerId) fail('INVALID_STATE', ofOwner)
  return team
}

/**
 * Ends a person's access at once, and with it every access that would outlive it: the keys that they made are revoked, their
 * open invitations withdrawn, their webhook endpoints disabled. Data stays the team's: messages, contacts, campaigns, instances.
 */
async function endMembership({ app }: Context, tx: Sql, team: HeldTeam, userId: string): Promise<void> {
  await tx.query('delete from team_members where "teamId" = $1 and "userId" = $2', [team.id, userId])
  await endGrants(tx, team, userId)
  await app.disableReceiversOf(tx, team.workspaceId, userId)
  await touch(tx, team.id)
}

/** Ends what lets others in on a manager's word. */
async function endGrants(tx: Sql, { id }: HeldTeam, userId: string): Promise<void> {
  await tx.query('update api_keys set "revokedAt" = now() where "teamId" = $1 and "userId" = $2 and "revokedAt" is null', [
    id,
    userId,
  ])
  await tx.query(
    `update team_invitations set status = 'revoked' where "teamId" = $1 and "inviterId" = $2 and status = 'pending'`,
    [id, userId],
  )
}

/** A team changes with who is in it. */
export async function touch(tx: Sql, teamId: string): Promise<void> {
  await tx.query('update teams set "updatedAt" = now() where id = $1', [teamId])
}
