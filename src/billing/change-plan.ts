// Subscription changes that the gateway makes itself: the rules, and the state after a change.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf } from './admission/period.ts'
import { type Plan, planOf } from './plans.ts'
import { lockSubscriptionAt, storeSubscription } from './subscription.ts'
import type { SubscriptionState } from './subscriptions.sql.ts'
import { refuseUnlessTeamsFit } from './team-fit.ts'

/** A change to another plan or to the same one, a cancellation at the end of the period, or the withdrawal of a cancellation. */
export type PlanChange = { to: Plan['code'] } | 'cancel' | 'resume'

/** Makes the change in the transaction `tx`. Returns the new row. @throws the errors of {@link checkChange}. */
export async function changePlan(tx: Sql, userId: string, change: PlanChange, now = new Date()): Promise<Subscription> {
  const held = await lockSubscriptionAt(tx, userId, now)
  await checkChange(tx, held, change)
  return await storeSubscription(tx, userId, stateAfter(held, change, now))
}

/**
 * Checks that the locked subscription may change like that.
 * @throws INVALID_STATE when its status or plan does not allow the change; PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the owner's teams exceed
 * the new plan. Exact until the transaction ends.
 */
export async function checkChange(tx: Sql, held: Subscription, change: PlanChange): Promise<void> {
  const present = planOf(held.plan)
  if (change === 'resume') {
    if (held.status !== 'cancelled') fail('INVALID_STATE', 'The subscription is not cancelled, or its period has ended')
    return
  }
  if (change === 'cancel') {
    if (present.code === 'free') fail('INVALID_STATE', 'The Free plan cannot be cancelled')
    if (held.status === 'cancelled') fail('INVALID_STATE', 'The subscription is already cancelled')
    if (held.status === 'inactive') fail('INVALID_STATE', 'The subscription is not active')
  }
  const target = change === 'cancel' ? planOf('free') : planOf(change.to)
  if (target.code !== present.code) await refuseUnlessTeamsFit(tx, held.userId, target)
}

/** Returns the state to store. Cancel and resume keep the billing provider; a plan change sets `manual`, or null for Free. */
function stateAfter(held: Subscription, change: PlanChange, now: Date): SubscriptionState {
  const state = { ...held, cancelAtPeriodEnd: false }
  if (change === 'cancel') return { ...state, status: 'cancelled', cancelAtPeriodEnd: true }
  if (change === 'resume') return { ...state, status: 'active' }
  const month = monthOf(now)
  return {
    plan: change.to,
    status: 'active',
    currentPeriodStart: month.start,
    currentPeriodEnd: month.end,
    cancelAtPeriodEnd: false,
    provider: change.to === 'free' ? null : 'manual',
    externalId: null,
  }
}
