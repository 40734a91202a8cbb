// Ordering a plan: judged at once, granted when it is paid.
import type { Context } from '../core/context.ts'
import { type Sql, transaction } from '../core/database/database.ts'
import { codeOf, fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { writeAfter } from '../core/idempotency/write-after.ts'
import type { Checkout, Subscription } from '../generated/prisma/client.ts'
import { refuseUnlessOwner } from './admission/roles.ts'
import { judgeChange } from './change-plan.ts'
import type { Opened, Order } from './provider.ts'
import { holdSubscription } from './subscription.ts'

type Wanted = Order['plan']

/**
 * Orders the plan for the workspace's owner. An order of that plan that can still be paid is answered again, so that
 * nobody pays twice for pressing a button twice; an order of another plan makes way.
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN, INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS, PROVIDER_ERROR.
 */
export async function checkOut(ctx: Context, plan: Wanted): Promise<Checkout> {
  refuseUnlessOwner(ctx.principal)
  const id = newId()
  let opened: Opened | null = null
  try {
    const checkout = await writeAfter(
      ctx,
      async () => {
        const answered = await askProvider(ctx, id, plan)
        opened = answered.opened
        return answered
      },
      (tx, answered) => storeOrder(ctx, tx, { id, plan, ...answered }),
    )
    if (checkout.id !== id) await discard(ctx, opened)
    return checkout
  } catch (error) {
    // Where it is not known why, the order may be stored, and be answered to the next who asks.
    if (codeOf(error)) await discard(ctx, opened)
    throw error
  }
}

interface Answered {
  /** The subscription that the provider was asked about. */
  subscription: Subscription
  /** Null where an order of that plan is open already. */
  opened: Opened | null
  /** Orders that cannot be paid any more. */
  closed: string[]
}

/** What the provider makes of the order. Nothing of it is stored yet, so that nothing is left where it fails. */
async function askProvider({ app, principal }: Context, checkoutId: string, plan: Wanted): Promise<Answered> {
  const provider = app.billing.current
  const { subscription, payer, pending } = await transaction(app.pool, async (tx) => {
    const subscription = await holdForOrder(tx, principal.ownerId, plan)
    const { rows } = await tx.query<Order['payer']>('select id, email, name from users where id = $1', [principal.ownerId])
    const pending = await pendingOf(tx, principal.ownerId, provider.name)
    return { subscription, payer: rows[0] as Order['payer'], pending }
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

/** Judges the order once more, because teams, other orders and payments may have come while the provider was asked. */
async function storeOrder(
  { app, principal }: Context,
  tx: Sql,
  { id, plan, subscription, opened, closed }: Answered & { id: string; plan: Wanted },
): Promise<Checkout> {
  const provider = app.billing.current
  const held = await holdForOrder(tx, principal.ownerId, plan)
  if (held.externalId !== subscription.externalId) fail('INVALID_STATE', 'The subscription has just changed; look at it again')
  await tx.query(`update checkouts set status = 'expired', "updatedAt" = now() where id = any($1) and status = 'pending'`, [
    closed,
  ])
  const pending = await pendingOf(tx, principal.ownerId, provider.name)
  if (pending.some((checkout) => checkout.plan !== plan))
    fail('INVALID_STATE', 'Another plan was ordered in the meantime; order again to replace that')
  // One that could be answered again, or that another request made in the meantime.
  if (pending[0]) return pending[0]
  // Paid between the two looks, so that the next try is told about it.
  if (!opened) fail('INVALID_STATE', 'The checkout has just ended; look at the subscription')
  const { rows } = await tx.query<Checkout>(
    `insert into checkouts (id, "userId", plan, provider, "externalId", url) values ($1, $2, $3, $4, $5, $6) returning *`,
    [id, principal.ownerId, plan, provider.name, opened.externalId, opened.url],
  )
  return rows[0] as Checkout
}

/** The subscription, held, if it may change to that plan. @throws INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS. */
async function holdForOrder(tx: Sql, ownerId: string, plan: Wanted): Promise<Subscription> {
  const held = await holdSubscription(tx, ownerId, new Date())
  if (held.plan === plan && held.status === 'active') fail('INVALID_STATE', 'This is the plan in force')
  await judgeChange(tx, held, { to: plan })
  return held
}

/** Closes what was opened and is handed out to nobody, if the provider answers; the log has why where it does not. */
async function discard({ app }: Context, opened: Opened | null): Promise<void> {
  if (opened) await app.billing.current.close(opened).catch(() => {})
}

/** The orders that wait, newest first. */
async function pendingOf(tx: Sql, userId: string, provider: string): Promise<Checkout[]> {
  const { rows } = await tx.query<Checkout>(
    `select * from checkouts where "userId" = $1 and provider = $2 and status = 'pending' order by "createdAt" desc, id desc`,
    [userId, provider],
  )
  return rows
}
