// SQL of subscriptions: their row locks, and writes under optimistic locking. Everything that counts against a plan takes the row lock.
import type { Sql } from '../core/database/database.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { periodSql } from './admission/period.ts'
import { planInForceSql } from './plans.ts'

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

/** A subscription with the day (UTC) on which its present billing period begins. */
export type PeriodRow = Subscription & { period: string }

const withPeriod = `*, (${periodSql('s')})::text as period`

/** Reads a locked row. */
export async function readPeriod(tx: Sql, userId: string): Promise<PeriodRow | undefined> {
  return (await tx.query<PeriodRow>(`select ${withPeriod} from subscriptions s where "userId" = $1`, [userId])).rows[0]
}

/** Stores the state of a locked row. The status of a suspended one is kept for its return. `fell` notes that the plan fell. */
export async function updateSubscription(tx: Sql, userId: string, state: SubscriptionState, fell: boolean): Promise<PeriodRow> {
  const { rows } = await tx.query<PeriodRow>(
    `update subscriptions s set plan = $2, "currentPeriodStart" = $4, "currentPeriodEnd" = $5, "cancelAtPeriodEnd" = $6, provider = $7,
       "externalId" = $8, status = case when "suspendedFrom" is null then $3::subscription_status else 'inactive' end,
       "suspendedFrom" = case when "suspendedFrom" is not null then $3::subscription_status end,
       "fellAt" = case when $9 then now() else "fellAt" end, "updatedAt" = ${touched}
     where "userId" = $1 returning ${withPeriod}`,
    [
      userId,
      state.plan,
      state.status,
      state.currentPeriodStart,
      state.currentPeriodEnd,
      state.cancelAtPeriodEnd,
      state.provider,
      state.externalId,
      fell,
    ],
  )
  return rows[0] as PeriodRow
}

/** Suspends a subscription: it is `inactive`, and its status is kept. Does nothing to one that is suspended. */
export async function suspendSubscription(tx: Sql, userId: string): Promise<void> {
  await tx.query(
    `update subscriptions set "suspendedFrom" = status, status = 'inactive', "updatedAt" = ${touched}
     where "userId" = $1 and "suspendedFrom" is null`,
    [userId],
  )
}

/** Gives a suspended subscription its status back. Returns whether it was suspended. */
export async function resumeSubscription(tx: Sql, userId: string): Promise<boolean> {
  const { rowCount } = await tx.query(
    `update subscriptions set status = "suspendedFrom", "suspendedFrom" = null, "updatedAt" = ${touched}
     where "userId" = $1 and "suspendedFrom" is not null`,
    [userId],
  )
  return rowCount === 1
}

/** Notes that a plan was fitted, and if anything rests. */
export async function storeFit(tx: Sql, userId: string, rests: boolean): Promise<void> {
  await tx.query('update subscriptions set "fellAt" = null, rests = $2 where "userId" = $1', [userId, rests])
}

/** True if {@link lockEnded}, {@link readFallen} or {@link readResting} would find something: one statement, by their partial indexes. */
export async function isSweepDue(sql: Sql): Promise<boolean> {
  const { rows } = await sql.query<{ due: boolean }>(
    `select exists (select from subscriptions where status = 'cancelled' and "currentPeriodEnd" <= now())
       or exists (select from subscriptions where "fellAt" is not null or rests) as due`,
  )
  return rows[0]?.due === true
}

/** Users after `after` whose plan fell, in the order of their ids (partial index `subscriptions_fit_idx`). */
export async function readFallen(sql: Sql, after: string, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ userId: string }>(
    `select "userId" from subscriptions where "fellAt" is not null and "userId" > $1 order by "userId" limit $2`,
    [after, limit],
  )
  return rows.map(({ userId }) => userId)
}

/** Owners after `after` of whom something rests, with the plan in force, in the order of their ids (partial index `subscriptions_fit_idx`). */
export async function readResting(sql: Sql, after: string, limit: number): Promise<{ userId: string; plan: string }[]> {
  const { rows } = await sql.query<{ userId: string; plan: string }>(
    `select "userId", ${planInForceSql('s')} as plan from subscriptions s where rests and "userId" > $1 order by "userId" limit $2`,
    [after, limit],
  )
  return rows
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
 * Locks one cancelled subscription whose period has ended, and returns its user (partial index `subscriptions_ending_idx`). Skips locked
 * rows: another transaction is about to change them, and the next run checks them again.
 */
export async function lockEnded(tx: Sql): Promise<string | undefined> {
  const { rows } = await tx.query<{ userId: string }>(
    `select "userId" from subscriptions where status = 'cancelled' and "currentPeriodEnd" <= now() limit 1 for update skip locked`,
  )
  return rows[0]?.userId
}
