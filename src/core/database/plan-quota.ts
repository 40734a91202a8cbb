// Whether a plan has room for one more of something: its limits, held while they are looked at, and what counts against them.
import type { Context, PlanLimits } from '../context.ts'
import { fail } from '../errors.ts'
import type { Sql } from './database.ts'

declare module '../app.ts' {
  interface App {
    /** The limits of the person's own plan, whose subscription is held for the transaction. @throws SUBSCRIPTION_INACTIVE. */
    holdLimits: (tx: Sql, userId: string) => Promise<PlanLimits>
  }
}

/** As SQL: the workspaces whose things count against the plan of user `$1`. What is left of a deleted team counts for nothing. */
export const countedWorkspaces = `(select w.id from workspaces w where w."ownerId" = $1
  and not exists (select from teams t where t."workspaceId" = w.id and t."deletedAt" is not null))`

/**
 * The limits of the plan that pays for the caller's workspace, for the transaction that makes something new in it: two who
 * make the last one wait for each other, and for a change of the plan.
 * @throws SUBSCRIPTION_INACTIVE; TEAM_NOT_FOUND, or UNAUTHORIZED for a key, where the team ended while this request came in.
 */
export async function holdQuota({ app, principal }: Context, tx: Sql): Promise<PlanLimits> {
  const limits = await app.holdLimits(tx, principal.ownerId)
  // Whoever ends a team holds the subscription too; nobody would come by again to clear away what is made now.
  const { rowCount } = await tx.query('select from teams where "workspaceId" = $1 and "deletedAt" is not null', [
    principal.workspaceId,
  ])
  if (rowCount) fail(principal.kind === 'team' ? 'UNAUTHORIZED' : 'TEAM_NOT_FOUND')
  return limits
}
