// Cancels a subscription, and takes a cancellation back.
import type { Context } from '../core/context.ts'
import { sqlTransaction } from '../core/database/transaction.ts'
import { codeOf } from '../core/errors.ts'
import { writeAfter } from '../core/idempotency/write-after.ts'
import type { Subscription } from '../generated/prisma/client.ts'
import { refuseUnlessOwner } from './admission/roles.ts'
import { changePlan, checkChange } from './change-plan.ts'
import { atProvider, billingProviders } from './providers.ts'
import { lastingPlan, lockSubscriptionAt } from './subscription.ts'
import { refuseUnlessTeamsFit } from './team-fit.ts'

/**
 * Lets the subscription of the workspace's owner end with its period (`cancel`), or go on after all (`resume`).
 * @throws BILLING_TEAM_MUTATION_FORBIDDEN when the caller does not own the team; INVALID_STATE when the status does not allow the change;
 * PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS when the owner has teams that Free does not allow; PROVIDER_ERROR when the provider fails.
 */
export async function changeRenewal(ctx: Context, change: 'cancel' | 'resume'): Promise<Subscription> {
  const { app, principal } = ctx
  refuseUnlessOwner(principal)
  let stored: Subscription | null = null
  try {
    return await writeAfter(
      ctx,
      async (wasCutOff) => {
        const { subscription, isDone } = await sqlTransaction(app.pool, async (tx) => {
          const held = await lockSubscriptionAt(tx, principal.ownerId, new Date())
          // The provider may have made the change before the request was cut off, and may have reported it since.
          const isDone = wasCutOff && held.externalId !== null && (held.status === 'cancelled') === (change === 'cancel')
          if (!isDone) await checkChange(tx, held, change)
          return { subscription: held, isDone }
        })
        const renew = () =>
          billingProviders(app)
            .of(subscription)
            .renew(subscription, change === 'resume')
        const isStored = isDone || (await atProvider(app).during(principal.ownerId, 1, renew))
        if (isStored) stored = subscription
        return isStored
      },
      async (tx, isStored) => {
        if (!isStored) return await changePlan(tx, principal.ownerId, change)
        const held = await lockSubscriptionAt(tx, principal.ownerId, new Date())
        // A team may have been created during the call to the provider. Under this lock none can be: a cancelled subscription gets no teams.
        if (held.status === 'cancelled') await refuseUnlessTeamsFit(tx, principal.ownerId, lastingPlan(held))
        return held
      },
    )
  } catch (error) {
    if (stored && codeOf(error) === 'PLAN_CHANGE_BLOCKED_ACTIVE_TEAMS') await billingProviders(app).of(stored).renew(stored, true)
    throw error
  }
}
