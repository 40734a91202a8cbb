// Operator commands of billing: list pending orders, set plans, suspend accounts. They run without a gateway.
import { userIdOf } from '../accounts/find-user.ts'
import { openAccountIn } from '../accounts/open-account.ts'
import type { App } from '../core/app.ts'
import type { Db } from '../core/database/database.ts'
import { sqlTransaction, type Tx, transaction } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { describePayment } from './admission/period.ts'
import { changePlan } from './change-plan.ts'
import { closeOrders } from './checkout.ts'
import { type Plan, planOf } from './plans.ts'
import { billingProviders } from './providers.ts'
import { lockSubscriptionAt } from './subscription.ts'
import { resumeSubscription, suspendSubscription } from './subscriptions.sql.ts'

/**
 * Makes sure that nothing is charged any more for an account that ends. At the end of a period, Stripe would still collect what is overdue, and
 * what a change of the plan costs, so the subscription ends at once.
 * Returns the ids of the orders that it closed, for {@link endSubscription}.
 * @throws PROVIDER_ERROR when Stripe knows the account as a customer and does not respond.
 */
export async function stopCharges(app: App, userId: string): Promise<string[]> {
  const closed = await closeOrders(app, userId)
  const held = await sqlTransaction(app.pool, (tx) => lockSubscriptionAt(tx, userId, new Date()))
  const { current, of } = billingProviders(app)
  await (held.provider === 'stripe' ? of(held) : current).end(held)
  return closed
}

/**
 * Makes the subscription inactive, and its orders expired. No event of Stripe finds it from then on: one that tells of its end would make it
 * usable again. {@link stopCharges} comes first, because it may take long, and tells the orders that are `closed`.
 * @throws PROVIDER_ERROR when another order was stored since then, which could still be paid.
 */
export async function endSubscription(app: App, tx: Tx, userId: string, closed: readonly string[]): Promise<void> {
  await lockSubscriptionAt(tx, userId, new Date())
  const { name: provider } = billingProviders(app).current
  const others = { userId, provider, status: 'pending' as const, id: { notIn: [...closed] } }
  if ((await tx.db.checkout.count({ where: others })) > 0) fail('PROVIDER_ERROR', 'A plan was ordered in the meantime; try again')
  await tx.db.checkout.updateMany({ where: { userId, status: 'pending' }, data: { status: 'expired' } })
  // A job closes the instances. Until then the sweep must neither rest nor resume them, nor order a mail.
  const ended = { status: 'inactive', customerId: null, fellAt: null, rests: false } as const
  await tx.db.subscription.updateMany({ where: { userId }, data: ended })
}

/** An order that an operator settles by hand. */
const pendingOrder = { status: 'pending', provider: 'manual' } as const

/**
 * Puts an account on a plan, active at once. A pending manual order of that plan is completed and recorded as paid.
 * @throws NOT_FOUND when the address is unknown; PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the account's teams exceed the plan; INVALID_STATE
 * when Stripe bills the subscription.
 */
export async function setPlan(db: Db, input: { email: string; plan: Plan['code'] }): Promise<void> {
  const now = new Date()
  await transaction(db, async (tx) => {
    const userId = await payerOf(tx, input.email)
    const { provider } = await lockSubscriptionAt(tx, userId, now)
    if (provider === 'stripe') fail('INVALID_STATE', `Stripe manages the subscription of ${input.email}: cancel it there first`)
    await changePlan(tx, userId, { to: input.plan }, now)
    await completeOrder(tx, userId, planOf(input.plan), now)
  })
}

/**
 * Suspends an account: its subscription counts as inactive, so nothing is created or sent, also in its teams. Signing in and reading stay
 * possible. Idempotent. A payment or a change of the plan in the meantime takes effect when it resumes.
 * @throws NOT_FOUND when the address is unknown.
 */
export async function suspendAccount(db: Db, input: { email: string }): Promise<void> {
  await transaction(db, async (tx) => await suspendSubscription(tx, await payerOf(tx, input.email)))
}

/** Returns the id of the account, and creates its subscription if a process died before it did. @throws as {@link userIdOf}. */
export async function payerOf(tx: Tx, email: string): Promise<string> {
  const userId = await userIdOf(tx.db, email)
  await openAccountIn(tx, userId, 'free')
  return userId
}

/** Ends a suspension. @throws NOT_FOUND when the address is unknown; INVALID_STATE when the account is not suspended. */
export async function resumeAccount(db: Db, input: { email: string }): Promise<void> {
  await transaction(db, async (tx) => {
    const resumed = await resumeSubscription(tx, await userIdOf(tx.db, input.email))
    if (!resumed) fail('INVALID_STATE', `${input.email} is not suspended`)
  })
}

async function completeOrder({ db }: Tx, userId: string, plan: Plan, now: Date): Promise<void> {
  const { code, name, monthlyPrice, currency } = plan
  const where = { ...pendingOrder, userId, plan: code }
  const { count } = await db.checkout.updateMany({ where, data: { status: 'completed' } })
  if (count === 0) return
  const paid = { amountCents: monthlyPrice * 100, currency, status: 'paid', description: describePayment(name, now) } as const
  await db.payment.create({ data: { id: newId(), userId, ...paid } })
}

export interface PendingCheckout {
  id: string
  email: string
  plan: string
  provider: string
  createdAt: Date
}

/** Returns the orders that wait for an operator, oldest first. */
export async function listPendingCheckouts(db: Db): Promise<PendingCheckout[]> {
  const rows = await db.checkout.findMany({
    where: pendingOrder,
    select: { id: true, user: { select: { email: true } }, plan: true, provider: true, createdAt: true },
    orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
  })
  return rows.map(({ id, user, ...order }) => ({ id, email: user.email, ...order }))
}
