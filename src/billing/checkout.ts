// Ordering a plan: judged at once, granted when it is paid.
import type { Context } from '../core/context.ts'
import { type Sql, transaction } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { writeAfter } from '../core/idempotency.ts'
import type { Checkout } from '../generated/prisma/client.ts'
import { judgeChange } from './change-plan.ts'
import type { Opened, Order } from './provider.ts'
import { refuseUnlessOwner } from './roles.ts'
import { holdSubscription } from './subscription.ts'

type Wanted = Order['plan']

/**
 * Orders the plan for the workspace's owner. An order of that plan that can still be paid is answered again, so that
 * nobody pays twice for pressing a button twice; an order of another plan makes way.
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN, INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS, PROVIDER_ERROR.
 */
export async function checkOut(ctx: Context, plan: Wanted): Promise<Checkout> {
  const { app, principal } = ctx
  refuseUnlessOwner(principal)
  const id = newId()
  const provider = app.billing.current
  return await writeAfter(
    ctx,
    () => askProvider(ctx, id, plan),
    async (tx, { opened, closed }) => {
      await holdSubscription(tx, principal.ownerId, new Date())
      await tx.query(`update checkouts set status = 'expired', "updatedAt" = now() where id = any($1) and status = 'pending'`, [
        closed,
      ])
      // One that could be answered again, or that another request made in the meantime.
      const same = (await pendingOf(tx, principal.ownerId, provider.name)).find((checkout) => checkout.plan === plan)
      if (same) return same
      // Paid between the two looks, so that the next try is told about it.
      if (!opened) fail('INVALID_STATE', 'The checkout has just ended; look at the subscription')
      const { rows } = await tx.query<Checkout>(
        `insert into checkouts (id, "userId", plan, provider, "externalId", url) values ($1, $2, $3, $4, $5, $6) returning *`,
        [id, principal.ownerId, plan, provider.name, opened.externalId, opened.url],
      )
      return rows[0] as Checkout
    },
  )
}

interface Answered {
  /** Null where an order of that plan is open already. */
  opened: Opened | null
  /** Orders that cannot be paid any more. */
  closed: string[]
}

/** What the provider makes of the order. Nothing of it is stored yet, so that nothing is left where it fails. */
async function askProvider({ app, principal }: Context, checkoutId: string, plan: Wanted): Promise<Answered> {
  const provider = app.billing.current
  const { subscription, payer, pending } = await transaction(app.pool, async (tx) => {
    const subscription = await holdSubscription(tx, principal.ownerId, new Date())
    if (subscription.plan === plan && subscription.status === 'active') fail('INVALID_STATE', 'This is the plan in force')
    await judgeChange(tx, subscription, { to: plan })
    const { rows } = await tx.query<Order['payer']>('select id, email, name from users where id = $1', [principal.ownerId])
    const pending = await pendingOf(tx, principal.ownerId, provider.name)
    return { subscription, payer: rows[0] as Order['payer'], pending }
  })
  const closed: string[] = []
  for (const checkout of pending) {
    if (await provider.isOpen(checkout)) {
      if (checkout.plan === plan) return { opened: null, closed }
      await provider.close(checkout)
    }
    closed.push(checkout.id)
  }
  return { opened: await provider.open({ checkoutId, plan, payer, subscription }), closed }
}

/** The orders that wait, newest first. */
async function pendingOf(tx: Sql, userId: string, provider: string): Promise<Checkout[]> {
  const { rows } = await tx.query<Checkout>(
    `select * from checkouts where "userId" = $1 and provider = $2 and status = 'pending' order by "createdAt" desc, id desc`,
    [userId, provider],
  )
  return rows
}
