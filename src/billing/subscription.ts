// The subscription's row: held while it changes, and stored so that whoever looked before can tell that it did.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf, periodOf } from './admission/period.ts'
import { isOver, type Plan, planOf } from './plans.ts'

/** What a change stores. */
export type SubscriptionState = Pick<
  Subscription,
  'plan' | 'status' | 'currentPeriodStart' | 'currentPeriodEnd' | 'cancelAtPeriodEnd' | 'provider' | 'externalId'
>

/**
 * The user's subscription as it is at `now`, held until the transaction ends: also what counts against its plan (teams,
 * groups, ...) is made while this row is held. @throws NOT_FOUND.
 */
export async function holdSubscription(tx: Sql, userId: string, now: Date): Promise<Subscription> {
  const { rows } = await tx.query<Subscription>('select * from subscriptions where "userId" = $1 for update', [userId])
  return subscriptionAt(rows[0] ?? fail('NOT_FOUND', 'Subscription not found'), now)
}

/** The row as it is at `now`: what is over is Free, as the job that comes by stores it, and a month follows the other. */
export function subscriptionAt(row: Subscription, now: Date): Subscription {
  if (isOver(row, now)) return { ...row, ...freeSince(now) }
  const { start, end } = periodOf(row, now)
  return { ...row, currentPeriodStart: start, currentPeriodEnd: end }
}

/** The plan that counts for what is to last: that of a cancelled subscription is Free already. */
export function lastingPlan({ plan, status }: Pick<Subscription, 'plan' | 'status'>): Plan {
  return planOf(status === 'cancelled' ? 'free' : plan)
}

/** What is left when nobody pays any more. */
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

/** As SQL: a moment later than any before it, so that it also tells two changes of one millisecond apart. */
export const touched = `greatest(clock_timestamp(), "updatedAt" + interval '1 millisecond')`

/** Stores the state of a row that is held; answers the row. */
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
