// What can be done with a team as a whole: create it within the plan, rename it, delete it.
import { holdPlan } from '../billing/hold-plan.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import { requireManager, requireOwner } from '../core/roles.ts'
import { closedJob } from './closed-job.ts'
import { type HeldTeam, holdOwnTeam } from './hold.ts'
import { readTeam, type TeamRow } from './read.ts'
import { insertTeam } from './service.ts'

/** A team of the caller's own, on their own subscription. @throws SUBSCRIPTION_INACTIVE; MAX_TEAMS_REACHED, exact under a race. */
export async function createOwnTeam(ctx: Context, name: string): Promise<TeamRow> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const { lasting, active } = await holdPlan(tx, userId)
    if (!active) fail('SUBSCRIPTION_INACTIVE')
    const { rows } = await tx.query<{ n: number }>(
      'select count(*)::int as n from teams where "ownerId" = $1 and "deletedAt" is null',
      [userId],
    )
    if ((rows[0]?.n ?? 0) >= lasting.teams.maxOwned) fail('MAX_TEAMS_REACHED')
    const { teamId } = await insertTeam(tx, userId, name)
    return await readTeam(tx, userId, teamId)
  })
}

/** @throws TEAM_NOT_FOUND, FORBIDDEN for collaborators. */
export async function renameTeam(ctx: Context, teamId: string, name: string): Promise<TeamRow> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    requireManager(await holdOwnTeam(tx, userId, teamId))
    await tx.query('update teams set name = $2, "updatedAt" = now() where id = $1', [teamId, name])
    return await readTeam(tx, userId, teamId)
  })
}

/** {@link closeTeam} by its owner. @throws TEAM_NOT_FOUND, FORBIDDEN for everybody else. */
export async function deleteTeam(ctx: Context, teamId: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const team = await holdOwnTeam(tx, ctx.principal.userId, teamId)
    requireOwner(team)
    await closeTeam(ctx.app, tx, team)
    return { id: teamId, deleted: true }
  })
}

/**
 * Ends a team that is held: at once for its members, its keys and whoever was invited; its webhooks and
 * instances follow by a job. What it did stays, for the owner's figures, and counts against no plan.
 */
export async function closeTeam(app: App, tx: Sql, { id, workspaceId, ownerId }: HeldTeam): Promise<void> {
  // Whoever makes an instance or an endpoint holds it too, so that none is made after the job has looked for them.
  await holdPlan(tx, ownerId)
  await tx.query('update teams set "deletedAt" = now(), "updatedAt" = now() where id = $1', [id])
  await tx.query('update api_keys set "revokedAt" = now() where "workspaceId" = $1 and "revokedAt" is null', [workspaceId])
  await tx.query(`update team_invitations set status = 'revoked' where "teamId" = $1 and status = 'pending'`, [id])
  await tx.query('delete from team_members where "teamId" = $1', [id])
  await enqueue(app, tx, closedJob, [{ data: { workspaceId } }])
}
