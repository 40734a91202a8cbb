// Reads and stores the row of a subscription under a row lock. A changed `updatedAt` tells earlier readers that the row changed.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf, periodOf } from './admission/period.ts'
import { isOver, type Plan, planOf } from './plans.ts'

/** The columns that a change stores. */
export type SubscriptionState = Pick<
  Subscription,
  'plan' | 'status' | 'currentPeriodStart' | 'currentPeriodEnd' | 'cancelAtPeriodEnd' | 'provider' | 'externalId'
>

/**
 * Locks the row (FOR UPDATE) and returns it as of `now`. Everything that counts against its plan (teams, groups, ...) needs this lock.
 * @throws NOT_FOUND when the user has no subscription.
 */
export async function holdSubscription(tx: Sql, userId: string, now: Date): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>('select * from subscriptions where "userId" = $1 for update', [userId])
  return subscriptionAt(rows[0] ?? fail('NOT_FOUND', 'Subscription not found'), now)
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

/** SQL: a timestamp later than any before it in `updatedAt`, so that it also distinguishes two changes within one millisecond. */
export const touched = `greatest(clock_timestamp(), "updatedAt" + interval '1 millisecond')`

/** Stores the state of a locked row. Returns the row. */
export async function storeSubscription(tx: Sql, userId: string, state: SubscriptionState): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>(
    `update subscriptions set plan = $2, status = $3, "currentPeriodStart" = $4, "currentPeriodEnd" = $5,
       "cancelAtPeriodEnd" = $6, provider = $7, "externalId" = $8, "updatedAt" = ${touched}
     where "userId" = $1 returning *`,
    [
      userId,
      state.plan,
      state.status,
      state.currentPeriodStart,
      state.currentPeriodEnd,
      state.cancelAtPeriodEnd,
      state.provider,
      state.externalId,
    ],
  )
  return rows[0] as Subscription
}
