// The subscription's row: held while it changes, and stored so that whoever looked before can tell that it did.
import type { Sql } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { monthOf } from './period.ts'
import { type Plan, planOf } from './plans.ts'

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
  const row = rows[0] ?? fail('NOT_FOUND', 'Subscription not found')
  return isOver(row, now) ? { ...row, ...freeSince(now) } : row
}

/** The plan of a row at `now`, as admission has it. */
export function planInForce(row: Pick<Subscription, 'plan' | 'status' | 'currentPeriodEnd'>, now: Date): Plan {
  return planOf(isOver(row, now) ? 'free' : row.plan)
}

/** Whether it was cancelled and its period has ended, even if the job that writes that down has not come by yet. */
function isOver({ status, currentPeriodEnd }: Pick<Subscription, 'status' | 'currentPeriodEnd'>, now: Date): boolean {
  return status === 'cancelled' && currentPeriodEnd <= now
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
