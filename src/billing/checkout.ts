// Orders a plan: checked at once, granted when it is paid.
import { personOf, refuseEnded } from '../accounts/find-user.ts'
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { type Tx, transaction } from '../core/database/transaction.ts'
import { codeOf, fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { writeAfter } from '../core/idempotency/write-after.ts'
import type { Checkout, Subscription } from '../generated/prisma/client.ts'
import { refuseUnlessOwner } from './admission/roles.ts'
import { checkChange } from './change-plan.ts'
import type { Opened, Order } from './provider.ts'
import { atProvider, billingProviders } from './providers.ts'
import { lockSubscriptionAt } from './subscription.ts'

type Wanted = Order['plan']

/**
 * Orders the plan for the workspace's owner. If an order of that plan can still be paid, it is returned again, so that nobody pays twice
 * for a double click. An open order of another plan is closed.
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN when the caller does not own the team; INVALID_STATE when the plan is in force, or when the
 * subscription or an order changed in the meantime; PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the owner's teams exceed the plan; UNAUTHORIZED when
 * the account ended in the meantime; PROVIDER_ERROR when the provider fails.
 */
export async function checkOut(ctx: Context, plan: Wanted): Promise<Checkout> {
  refuseUnlessOwner(ctx.principal)
  const id = newId()
  let opened: Opened | null = null
  try {
    const checkout = await writeAfter(
      ctx,
      async () => {
        const answered = await atProvider(ctx.app).during(ctx.principal.ownerId, 1, () => callProvider(ctx, id, plan))
        opened = answered.opened
        return answered
      },
      (tx, answered) => storeOrder(ctx, tx, { id, plan, ...answered }),
    )
    if (checkout.id !== id) await discard(ctx, opened)
    return checkout
  } catch (error) {
    // After an error without a code the order may be stored, and the next request may return it. So it stays open then.
    if (codeOf(error)) await discard(ctx, opened)
    throw error
  }
}

interface Answered {
  /** The subscription at the time of the call to the provider. */
  subscription: Subscription
  /** Null if an order of that plan is open already. */
  opened: Opened | null
  /** Ids of orders that cannot be paid. */
  closed: string[]
}

/** Opens the order at the provider. Nothing of it is stored yet, so a failure leaves nothing behind. */
async function callProvider({ app, principal }: Context, checkoutId: string, plan: Wanted): Promise<Answered> {
  const provider = billingProviders(app).current
  const { subscription, payer, pending } = await transaction(app.db, async (tx) => {
    const subscription = await lockForOrder(tx, principal.ownerId, plan)
    const payer = await personOf(tx.db, principal.ownerId)
    const pending = await pendingOf(tx, principal.ownerId, provider.name)
    return { subscription, payer, pending }
  })
  const closed: string[] = []
  let isOrdered = false
  for (const checkout of pending) {
    const isOpen = await provider.isOpen(checkout)
    if (isOpen && checkout.plan === plan) isOrdered = true
    else closed.push(checkout.id)
    if (isOpen && checkout.plan !== plan) await provider.close(checkout)
  }
  if (isOrdered) return { subscription, opened: null, closed }
  return { subscription, opened: await provider.open({ checkoutId, plan, payer, subscription }), closed }
}

/** Checks the order again before it is stored, because teams, orders and payments may have changed during the call to the provider. */
async function storeOrder(
  { app, principal }: Context,
  tx: Tx,
  { id, plan, subscription, opened, closed }: Answered & { id: string; plan: Wanted },
): Promise<Checkout> {
  const provider = billingProviders(app).current
  const held = await lockForOrder(tx, principal.ownerId, plan)
  // The end of an account takes the same lock, and fails if an order was stored that it has not closed.
  await refuseEnded(tx.db, principal.ownerId)
  if (held.externalId !== subscription.externalId) fail('INVALID_STATE', 'The subscription has just changed; read it again')
  await tx.db.checkout.updateMany({ where: { id: { in: closed }, status: 'pending' }, data: { status: 'expired' } })
  const pending = await pendingOf(tx, principal.ownerId, provider.name)
  if (pending.some((checkout) => checkout.plan !== plan))
    fail('INVALID_STATE', 'Another plan was ordered in the meantime; repeat the order to replace it')
  // An order that was open before, or that another request made in the meantime.
  if (pending[0]) return pending[0]
  // The open order was paid or closed between the two checks. The caller's retry starts from the new state.
  if (!opened) fail('INVALID_STATE', 'The checkout has just ended; read the subscription again')
  const { externalId, url } = opened
  return await tx.db.checkout.create({ data: { id, userId: principal.ownerId, plan, provider: provider.name, externalId, url } })
}

/**
 * Returns the subscription, locked, if it may change to that plan.
 * @throws INVALID_STATE when the plan is in force; PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the owner's teams exceed the plan.
 */
async function lockForOrder(tx: Sql, ownerId: string, plan: Wanted): Promise<Subscription> {
  const held = await lockSubscriptionAt(tx, ownerId, new Date())
  if (held.plan === plan && held.status === 'active') fail('INVALID_STATE', 'This is already the current plan')
  await checkChange(tx, held, { to: plan })
  return held
}

/**
 * Closes the open orders of an account that ends, so that none of them is paid later. One that was paid meanwhile counts as a subscription.
 * Returns the ids of the orders.
 * @throws PROVIDER_ERROR when the provider does not respond.
 */
export async function closeOrders(app: App, userId: string): Promise<string[]> {
  const provider = billingProviders(app).current
  const pending = await transaction(app.db, (tx) => pendingOf(tx, userId, provider.name))
  for (const checkout of pending) {
    const isOpen = await provider.isOpen(checkout).catch((error: Error) => {
      if (codeOf(error) !== 'INVALID_STATE') throw error
      return false
    })
    if (isOpen) await provider.close(checkout)
  }
  return pending.map(({ id }) => id)
}

/** Closes an order that was opened and is returned to nobody. Best effort: if the provider fails, the log has the reason. */
async function discard({ app }: Context, opened: Opened | null): Promise<void> {
  if (opened)
    await billingProviders(app)
      .current.close(opened)
      .catch(() => {})
}

/** Returns the pending orders, newest first. */
async function pendingOf(tx: Tx, userId: string, provider: string): Promise<Checkout[]> {
  return await tx.db.checkout.findMany({
    where: { userId, provider, status: 'pending' },
    orderBy: [{ createdAt: 'desc' }, { id: 'desc' }],
  })
}
