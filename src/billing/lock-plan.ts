// Reads the plan of an owner under a row lock, so that counts against its limits are exact.
import type { Sql } from '../core/database/database.ts'
import { type Plan, planOf } from './plans.ts'
import { lastingPlan, lockSubscriptionAt } from './subscription.ts'

export interface LockedPlan {
  /** The plan in force. */
  plan: Plan
  /** The plan for lasting things such as teams and seats: Free for a cancelled subscription. */
  lasting: Plan
  /** True if the subscription allows creating and sending. */
  active: boolean
}

/** Locks the subscription row for the transaction `tx`, so that two concurrent requests cannot both take the last place. */
export async function lockPlan(tx: Sql, userId: string): Promise<LockedPlan> {
  const held = await lockSubscriptionAt(tx, userId, new Date())
  return { plan: planOf(held.plan), lasting: lastingPlan(held), active: held.status !== 'inactive' }
}
