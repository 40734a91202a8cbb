// Cancelling a subscription, and taking that back.
import type { Context } from '../core/context.ts'
import { transaction } from '../core/database.ts'
import { writeAfter } from '../core/idempotency.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { changePlan, judgeChange } from './change-plan.ts'
import { refuseUnlessOwner } from './roles.ts'
import { holdSubscription } from './subscription.ts'

/**
 * Lets the subscription of the workspace's owner end with its period (`cancel`), or go on after all (`resume`).
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN, INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS, PROVIDER_ERROR.
 */
export async function changeRenewal(ctx: Context, change: 'cancel' | 'resume'): Promise<Subscription> {
  const { app, principal } = ctx
  refuseUnlessOwner(principal)
  return await writeAfter(
    ctx,
    async () => {
      const subscription = await transaction(app.pool, async (tx) => {
        const held = await holdSubscription(tx, principal.ownerId, new Date())
        await judgeChange(tx, held, change)
        return held
      })
      return await app.billing.of(subscription).renew(subscription, change === 'resume')
    },
    async (tx, isStored) =>
      isStored ? await holdSubscription(tx, principal.ownerId, new Date()) : await changePlan(tx, principal.ownerId, change),
  )
}
