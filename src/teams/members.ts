// Who is in a team: their roles, how they are removed, how they leave.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency.ts'
import { holdOwnTeam } from './hold.ts'
import type { GivenRole } from './input.ts'
import { type MemberRow, memberColumns } from './read.ts'
import { requireManager } from './roles.ts'

/** @throws TEAM_NOT_FOUND, FORBIDDEN for collaborators, NOT_FOUND, INVALID_STATE for the owner's role and one's own. */
export async function changeRole(ctx: Context, teamId: string, userId: string, role: GivenRole): Promise<MemberRow> {
  return await write(ctx, async (tx) => {
    await holdMember(ctx, tx, teamId, userId, 'The owner of a team cannot get another role')
    if (userId === ctx.principal.userId) fail('INVALID_STATE', 'Nobody changes their own role')
    const { rows } = await tx.query<MemberRow>(
      `update team_members m set role = $3 from users u where m."teamId" = $1 and m."userId" = $2 and u.id = m."userId"
       returning ${memberColumns}`,
      [teamId, userId, role],
    )
    await touch(tx, teamId)
    return rows[0] as MemberRow
  })
}

/** Ends their access at once; the keys that they made stay the team's. @throws as {@link changeRole}, but for one's own. */
export async function removeMember(ctx: Context, teamId: string, userId: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    await holdMember(ctx, tx, teamId, userId, 'The owner cannot be removed from a team')
    await endMembership(tx, teamId, userId)
    return { id: userId, deleted: true }
  })
}

/** @throws TEAM_NOT_FOUND, INVALID_STATE for the owner. */
export async function leaveTeam(ctx: Context, teamId: string): Promise<{ id: string; left: true }> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const { role } = await holdOwnTeam(tx, userId, teamId)
    if (role === 'owner') fail('INVALID_STATE', 'The owner cannot leave a team, but can delete it')
    await endMembership(tx, teamId, userId)
    return { id: teamId, left: true }
  })
}

/** Holds the team, for somebody who manages members, one of whom the user is, and not its owner. */
async function holdMember(ctx: Context, tx: Sql, teamId: string, userId: string, ofOwner: string): Promise<void> {
  const team = await holdOwnTeam(tx, ctx.principal.userId, teamId)
  requireManager(team)
  const { rowCount } = await tx.query('select from team_members where "teamId" = $1 and "userId" = $2', [teamId, userId])
  if (!rowCount) fail('NOT_FOUND', 'Member not found')
  if (userId === team.ownerId) fail('INVALID_STATE', ofOwner)
}

async function endMembership(tx: Sql, teamId: string, userId: string): Promise<void> {
  await tx.query('delete from team_members where "teamId" = $1 and "userId" = $2', [teamId, userId])
  await touch(tx, teamId)
}

/** A team changes with who is in it. */
export async function touch(tx: Sql, teamId: string): Promise<void> {
  await tx.query('update teams set "updatedAt" = now() where id = $1', [teamId])
}
