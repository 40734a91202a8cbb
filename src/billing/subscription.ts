// The row of a subscription: its state at a moment, under its row lock. A changed `updatedAt` tells earlier readers that it changed.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf, periodOf } from './admission/period.ts'
import { carryUsage } from './admission/quota.sql.ts'
import { isLess, isOver, type Plan, planOf } from './plans.ts'
import { lockSubscription, readPeriod, type SubscriptionState, updateSubscription } from './subscriptions.sql.ts'

/**
 * Locks the row (FOR UPDATE) and returns it as of `now`. Everything that counts against its plan (teams, groups, ...) needs this lock.
 * @throws NOT_FOUND when the user has no subscription.
 */
export async function lockSubscriptionAt(tx: Sql, userId: string, now: Date): Promise<Subscription> {
  return subscriptionAt((await lockSubscription(tx, userId)) ?? fail('NOT_FOUND', 'Subscription not found'), now)
}

/** Returns the row as of `now`: Free if the subscription is over, as the job stores it, and with the current period (see `periodOf`). */
export function subscriptionAt(row: Subscription, now: Date): Subscription {
  if (isOver(row, now)) return { ...row, ...freeSince(now) }
  const { start, end } = periodOf(row, now)
  return { ...row, currentPeriodStart: start, currentPeriodEnd: end }
}

/**
 * Stores the state of a locked row. A change of the plan carries the usage into the period that begins; only a renewal begins at 0. A plan
 * that falls is noted, for what exceeds it to rest.
 */
export async function storeSubscription(tx: Sql, userId: string, state: SubscriptionState): Promise<Subscription> {
  const before = (await readPeriod(tx, userId)) ?? fail('NOT_FOUND', 'Subscription not found')
  const { period, ...stored } = await updateSubscription(tx, userId, state, isLess(state.plan, before.plan))
  const isRenewal = before.plan === stored.plan && stored.currentPeriodStart >= before.currentPeriodEnd
  if (period !== before.period && !isRenewal) await carryUsage(tx, userId, before.period, period)
  return stored
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
