// What an owner's plan allows at this moment, while nobody else takes from it.
import type { Sql } from '../core/database/database.ts'
import { type Plan, planOf } from './plans.ts'
import { holdSubscription, lastingPlan } from './subscription.ts'

export interface HeldPlan {
  /** The plan in force. */
  plan: Plan
  /** What counts for what is to last, like teams and seats: a subscription that was cancelled has nothing to give to them. */
  lasting: Plan
  /** Whether the subscription allows creating and sending. */
  active: boolean
}

/** Reads the plan and holds the subscription for the transaction `tx`, so that two who count cannot both be the last. */
export async function holdPlan(tx: Sql, userId: string): Promise<HeldPlan> {
  const held = await holdSubscription(tx, userId, new Date())
  return { plan: planOf(held.plan), lasting: lastingPlan(held), active: held.status !== 'inactive' }
}
