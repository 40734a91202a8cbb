// Operator commands of billing: list pending orders, and set plans.
import type pg from 'pg'
import { userIdOf } from '../accounts/service.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { describePayment } from './admission/period.ts'
import { changePlan } from './change-plan.ts'
import { type Plan, planOf } from './plans.ts'
import { holdSubscription } from './subscription.ts'

/**
 * Puts an account on a plan, active at once. A pending manual order of that plan is completed and recorded as paid.
 * @throws NOT_FOUND when the address is unknown; PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the account's teams exceed the plan; INVALID_STATE
 * when Stripe bills the subscription.
 */
export async function setPlan(pool: pg.Pool, input: { email: string; plan: Plan['code'] }): Promise<void> {
  const now = new Date()
  await sqlTransaction(pool, async (tx) => {
    const userId = await userIdOf(tx, input.email)
    const { provider } = await holdSubscription(tx, userId, now)
    if (provider === 'stripe')
      fail('INVALID_STATE', `Stripe takes the money of ${input.email}: cancel the subscription there first`)
    await changePlan(tx, userId, { to: input.plan }, now)
    await completeOrder(tx, userId, planOf(input.plan), now)
  })
}

async function completeOrder(tx: Sql, userId: string, plan: Plan, now: Date): Promise<void> {
  const { rowCount } = await tx.query(
    `update checkouts set status = 'completed', "updatedAt" = now()
     where "userId" = $1 and plan = $2 and provider = 'manual' and status = 'pending'`,
    [userId, plan.code],
  )
  if (!rowCount) return
  await tx.query(
    `insert into payments (id, "userId", "amountCents", currency, status, description) values ($1, $2, $3, $4, 'paid', $5)`,
    [newId(), userId, plan.monthlyPrice * 100, plan.currency, describePayment(plan.name, now)],
  )
}

export interface PendingCheckout {
  id: string
  email: string
  plan: string
  provider: string
  createdAt: Date
}

/** Returns the orders that wait for an operator, oldest first. */
export async function listPendingCheckouts(pool: pg.Pool): Promise<PendingCheckout[]> {
  const { rows } = await pool.query<PendingCheckout>(
    `select c.id, u.email, c.plan, c.provider, c."createdAt" from checkouts c join users u on u.id = c."userId"
      where c.status = 'pending' and c.provider = 'manual' order by c."createdAt", c.id`,
  )
  return rows
}
