// Operator commands of billing: list pending orders, and set plans. They run without a gateway, on a pool of their own.
import type pg from 'pg'
import { userIdOf } from '../accounts/service.ts'
import type { Sql } from '../core/database/database.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { describePayment } from './admission/period.ts'
import { changePlan } from './change-plan.ts'
import { completeOrders, insertPayment } from './orders.sql.ts'
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
    if (provider === 'stripe') fail('INVALID_STATE', `Stripe manages the subscription of ${input.email}: cancel it there first`)
    await changePlan(tx, userId, { to: input.plan }, now)
    await completeOrder(tx, userId, planOf(input.plan), now)
  })
}

async function completeOrder(tx: Sql, userId: string, plan: Plan, now: Date): Promise<void> {
  if (!(await completeOrders(tx, userId, plan.code))) return
  const { name, monthlyPrice, currency } = plan
  await insertPayment(tx, { userId, amountCents: monthlyPrice * 100, currency, description: describePayment(name, now) })
}

export { listPendingCheckouts, type PendingCheckout } from './orders.sql.ts'
