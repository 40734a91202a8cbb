// Every change of a subscription that is ours to make: what is allowed, and what it leads to.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf } from './admission/period.ts'
import { type Plan, planOf } from './plans.ts'
import { holdSubscription, type SubscriptionState, storeSubscription } from './subscription.ts'
import { refuseUnlessTeamsFit } from './team-fit.ts'

/** To another plan or the same once more, an end at the end of the period, or that end taken back. */
export type PlanChange = { to: Plan['code'] } | 'cancel' | 'resume'

/** Makes the change in the transaction `tx`; answers the row. @throws as {@link judgeChange}. */
export async function changePlan(tx: Sql, userId: string, change: PlanChange, now = new Date()): Promise<Subscription> {
  const held = await holdSubscription(tx, userId, now)
  await judgeChange(tx, held, change)
  return await storeSubscription(tx, userId, stateAfter(held, change, now))
}

/**
 * Whether the held subscription may change like that.
 * @throws INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS, which is exact until the transaction ends.
 */
export async function judgeChange(tx: Sql, held: Subscription, change: PlanChange): Promise<void> {
  const present = planOf(held.plan)
  if (change === 'resume') {
    if (held.status !== 'cancelled') fail('INVALID_STATE', 'The subscription is not cancelled, or its period has ended')
    return
  }
  if (change === 'cancel') {
    if (present.code === 'free') fail('INVALID_STATE', 'Free is no subscription that could be cancelled')
    if (held.status === 'cancelled') fail('INVALID_STATE', 'The subscription is cancelled already')
    if (held.status === 'inactive') fail('INVALID_STATE', 'The subscription is not in force')
  }
  const target = change === 'cancel' ? planOf('free') : planOf(change.to)
  if (target.code !== present.code) await refuseUnlessTeamsFit(tx, held.userId, target)
}

/** What is stored then. The one who takes the money stays, unless nobody does any more. */
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
