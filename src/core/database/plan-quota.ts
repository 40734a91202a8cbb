// Plan quota: locks the limits of a plan while usage is counted against them, and says which workspaces count.
import type { Context } from '../context.ts'
import { fail } from '../errors.ts'
import type { PlanLimits } from '../principal.ts'
import type { Sql } from './database.ts'

/** As SQL: the workspaces that count against the plan of user `$1`. Workspaces of deleted teams do not count. */
export const countedWorkspaces = `(select w.id from workspaces w where w."ownerId" = $1
  and not exists (select from teams t where t."workspaceId" = w.id and t."deletedAt" is not null))`

/**
 * Returns the limits of the plan that pays for the caller's workspace, for a transaction that creates something in it. The row
 * lock on the subscription serializes concurrent creations and changes of the plan.
 * @throws SUBSCRIPTION_INACTIVE when the subscription is not active; TEAM_NOT_FOUND, or UNAUTHORIZED for a team key, when the
 * team was deleted while this request came in.
 */
export async function holdQuota({ app, principal }: Context, tx: Sql): Promise<PlanLimits> {
  const limits = await app.hooks.holdLimits(tx, principal.ownerId)
  // Deleting a team locks the subscription too. Nothing would clean up what is created after that.
  const { rowCount } = await tx.query('select from teams where "workspaceId" = $1 and "deletedAt" is not null', [
    principal.workspaceId,
  ])
  if (rowCount) fail(principal.kind === 'team' ? 'UNAUTHORIZED' : 'TEAM_NOT_FOUND')
  return limits
}
