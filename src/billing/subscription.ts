// The row of a subscription: its state at a moment, under its row lock. A changed `updatedAt` tells earlier readers that it changed.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf, periodOf } from './admission/period.ts'
import { isOver, type Plan, planOf } from './plans.ts'
import { lockSubscription, type SubscriptionState } from './subscriptions.sql.ts'

/**
 * Locks the row (FOR UPDATE) and returns it as of `now`. Everything that counts against its plan (teams, groups, ...) needs this lock.
 * @throws NOT_FOUND when the user has no subscription.
 */
export async function holdSubscription(tx: Sql, userId: string, now: Date): Promise<Subscription> {
  return subscriptionAt((await lockSubscription(tx, userId)) ?? fail('NOT_FOUND', 'Subscription not found'), now)
}

/** Returns the row as of `now`: Free if the subscription is over, as the job stores it, and with the current period (see `periodOf`). */
export function subscriptionAt(row: Subscription, now: Date): Subscription {
  if (isOver(row, now)) return { ...row, ...freeSince(now) }
  const { start, end } = periodOf(row, now)
  return { ...row, currentPeriodStart: start, currentPeriodEnd: end }
}

/** Returns the plan for lasting things such as teams: Free for a cancelled subscription. */
export function lastingPlan({ plan, status }: Pick<Subscription, 'plan' | 'status'>): Plan {
  return planOf(status === 'cancelled' ? 'free' : plan)
}

/** Returns the state of a subscription that nobody pays for. */
export function freeSince(now: Date): SubscriptionState {
  const { start, end } = monthOf(now)
  return {
    plan: 'free',
    status: 'active',
    currentPeriodStart: start,
    currentPeriodEnd: end,
    cancelAtPeriodEnd: false,
    provider: null,
    externalId: null,
  }
}
