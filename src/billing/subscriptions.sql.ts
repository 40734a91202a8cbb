// SQL of subscriptions: their row locks, and writes under optimistic locking. Everything that counts against a plan takes the row lock.
import type { Sql } from '../core/database/database.ts'
import type { Subscription } from '../generated/prisma/client.ts'

/** The columns that a change stores. */
export type SubscriptionState = Pick<
  Subscription,
  'plan' | 'status' | 'currentPeriodStart' | 'currentPeriodEnd' | 'cancelAtPeriodEnd' | 'provider' | 'externalId'
>

/** A timestamp later than any before it in `updatedAt`, so that it also distinguishes two changes within one millisecond. */
const touched = `greatest(clock_timestamp(), "updatedAt" + interval '1 millisecond')`

/** Locks the subscription of a user. */
export async function lockSubscription(tx: Sql, userId: string): Promise<Subscription | undefined> {
  return (await tx.query<Subscription>('select * from subscriptions where "userId" = $1 for update', [userId])).rows[0]
}

/** Locks the subscription of a customer of the payment provider (unique index on "customerId"). */
export async function lockSubscriptionOf(tx: Sql, customerId: string): Promise<Subscription | undefined> {
  return (await tx.query<Subscription>('select * from subscriptions where "customerId" = $1 for update', [customerId])).rows[0]
}

/** Stores the state of a locked row. */
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

/** Stores a customer's id if the row still holds `before` (compare and swap). Returns the id that is stored then. */
export async function storeCustomer(sql: Sql, userId: string, customerId: string, before: string | null): Promise<string> {
  const { rows } = await sql.query<{ customerId: string }>(
    `update subscriptions set "customerId" = case when "customerId" is not distinct from $3 then $2 else "customerId" end,
       "updatedAt" = ${touched} where "userId" = $1 returning "customerId"`,
    [userId, customerId, before],
  )
  return rows[0]?.customerId as string
}

/** Moves a subscription to the end of the order in which overdue ones are checked. */
export async function touchSubscription(sql: Sql, userId: string): Promise<void> {
  await sql.query(`update subscriptions set "updatedAt" = ${touched} where "userId" = $1`, [userId])
}

/**
 * Stores Free, with the period `start` to `end`, for at most `limit` cancelled subscriptions whose period has ended. Returns how many.
 * Skips locked rows: another transaction is about to change them, and the next run checks them again.
 */
export async function endCancelled(sql: Sql, start: Date, end: Date, limit: number): Promise<number> {
  const { rowCount } = await sql.query(
    `update subscriptions set plan = 'free', status = 'active', "cancelAtPeriodEnd" = false, provider = null, "externalId" = null,
       "currentPeriodStart" = $1, "currentPeriodEnd" = $2, "updatedAt" = ${touched}
     where "userId" in (
       select "userId" from subscriptions where status = 'cancelled' and "currentPeriodEnd" <= now()
       order by "userId" limit $3 for update skip locked
     )`,
    [start, end, limit],
  )
  return rowCount ?? 0
}
