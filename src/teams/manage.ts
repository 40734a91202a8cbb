// Operations on a whole team: create it within the plan's limit, rename it, delete it.
import { revokeKeys } from '../accounts/keys/api-keys.ts'
import { lockPlan } from '../billing/lock-plan.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import { requireManager, requireOwner } from '../core/roles.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { closedJob } from './closed-job.ts'
import type { LockedTeam } from './lock.sql.ts'
import { lockOwnTeam, lockPaidTeam } from './lock.ts'
import { revokePending } from './open-invitations.ts'
import { readTeam, type TeamRow } from './read.ts'
import { insertTeam } from './service.ts'

/** The teams that the account owns. */
export async function countTeams(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.team.count({ where: { ownerId, deletedAt: null } })
}

/**
 * Creates a team that the caller owns, on their own subscription.
 * @throws SUBSCRIPTION_INACTIVE when the subscription is inactive; MAX_TEAMS_REACHED when the limit is reached, exact under a race.
 */
export async function createOwnTeam(ctx: Context, name: string): Promise<TeamRow> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const { lasting, active } = await lockPlan(tx, userId)
    if (!active) fail('SUBSCRIPTION_INACTIVE')
    if ((await countTeams(tx.db, userId)) >= lasting.teams.maxOwned) fail('MAX_TEAMS_REACHED')
    const { teamId } = await insertTeam(tx, userId, name)
    return await readTeam(tx.db, userId, teamId)
  })
}

/** @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator. */
export async function renameTeam(ctx: Context, teamId: string, name: string): Promise<TeamRow> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    requireManager(await lockOwnTeam(tx, userId, teamId))
    await tx.db.team.update({ where: { id: teamId }, data: { name } })
    return await readTeam(tx.db, userId, teamId)
  })
}

/** {@link closeTeam} by the owner. @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller does not own it. */
export async function deleteTeam(ctx: Context, teamId: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const team = await lockOwnTeam(tx, ctx.principal.userId, teamId, lockPaidTeam)
    requireOwner(team)
    await closeTeam(ctx.app, tx, team)
    return { id: teamId, deleted: true }
  })
}

/**
 * Ends a team. Its members, its keys and open invitations lose access at once; a job ends its webhooks and instances. Its past data stays for
 * the owner's figures, and counts against no plan. The subscription of its owner must be locked before the team: creating an instance or an
 * endpoint takes that lock too, so none is created after the job has looked for them.
 */
export async function closeTeam(app: App, tx: Tx, { id, workspaceId }: LockedTeam): Promise<void> {
  await tx.db.team.update({ where: { id }, data: { deletedAt: new Date() } })
  await revokeKeys(tx, { workspaceId })
  await revokePending(tx, { teamId: id })
  await tx.db.teamMember.deleteMany({ where: { teamId: id } })
  await enqueue(app, tx, closedJob, [{ data: { workspaceId } }])
}
