// Cancelling a subscription, and taking that back.
import type { Context } from '../core/context.ts'
import { transaction } from '../core/database/database.ts'
import { codeOf } from '../core/errors.ts'
import { writeAfter } from '../core/idempotency/write-after.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { refuseUnlessOwner } from './admission/roles.ts'
import { changePlan, judgeChange } from './change-plan.ts'
import { holdSubscription, lastingPlan } from './subscription.ts'
import { refuseUnlessTeamsFit } from './team-fit.ts'

/**
 * Lets the subscription of the workspace's owner end with its period (`cancel`), or go on after all (`resume`).
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN, INVALID_STATE, PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS, PROVIDER_ERROR.
 */
export async function changeRenewal(ctx: Context, change: 'cancel' | 'resume'): Promise<Subscription> {
  const { app, principal } = ctx
  refuseUnlessOwner(principal)
  let told: Subscription | null = null
  try {
    return await writeAfter(
      ctx,
      async (wasCutOff) => {
        const { subscription, isDone } = await transaction(app.pool, async (tx) => {
          const held = await holdSubscription(tx, principal.ownerId, new Date())
          // The provider may have done it before the request was cut off, and said so since.
          const isDone = wasCutOff && held.externalId !== null && (held.status === 'cancelled') === (change === 'cancel')
          if (!isDone) await judgeChange(tx, held, change)
          return { subscription: held, isDone }
        })
        const isStored = isDone || (await app.billing.of(subscription).renew(subscription, change === 'resume'))
        if (isStored) told = subscription
        return isStored
      },
      async (tx, isStored) => {
        if (!isStored) return await changePlan(tx, principal.ownerId, change)
        const held = await holdSubscription(tx, principal.ownerId, new Date())
        // A team may have come while the provider was asked. From now on none does: what is cancelled takes no more.
        if (held.status === 'cancelled') await refuseUnlessTeamsFit(tx, principal.ownerId, lastingPlan(held))
        return held
      },
    )
  } catch (error) {
    if (told && codeOf(error) === 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS') await app.billing.of(told).renew(told, true)
    throw error
  }
}
