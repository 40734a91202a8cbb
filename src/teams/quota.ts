// Locks the plan that pays for a workspace, for a transaction that creates something in it.
import { lockPlan } from '../billing/lock-plan.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import type { PlanLimits, Principal } from '../core/principal.ts'

/** Returns the limits of the plan in force. The row lock on the subscription serializes creations and changes of the plan. */
export async function lockLimits(tx: Tx, ownerId: string): Promise<PlanLimits> {
  const { plan, active } = await lockPlan(tx, ownerId)
  return active ? plan.limits : fail('SUBSCRIPTION_INACTIVE')
}

/** {@link lockLimits} for a workspace; see `Hooks.lockQuota`. */
export async function lockQuota(
  tx: Tx,
  { ownerId, workspaceId, kind }: Pick<Principal, 'ownerId' | 'workspaceId'> & Partial<Principal>,
): Promise<PlanLimits> {
  const limits = await lockLimits(tx, ownerId)
  // Deleting a team locks the subscription too. Nothing would clean up what is created after that.
  const deleted = await tx.db.team.count({ where: { workspaceId, deletedAt: { not: null } } })
  if (deleted > 0) fail(kind === 'team' ? 'UNAUTHORIZED' : 'TEAM_NOT_FOUND')
  return limits
}
