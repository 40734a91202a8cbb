// Lets everything rest that exceeds a smaller plan, and tells the owner by one mail. Resumes it when the plan allows it again.
import { personOf } from '../accounts/find-user.ts'
import { limitedKeys } from '../accounts/keys/over-plan.ts'
import { orderMail } from '../accounts/mail/order.ts'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database/transaction.ts'
import { countWorking } from '../core/over-plan.sql.ts'
import type { PlanLimits } from '../core/principal.ts'
import { planOf } from './plans.ts'
import { lockSubscriptionAt } from './subscription.ts'
import { storeFit } from './subscriptions.sql.ts'

function limitedKinds({ hooks }: App) {
  const { limitedInstances, limitedEndpoints } = hooks
  return [
    { name: 'instances', kind: limitedInstances, most: (limits: PlanLimits) => limits.maxInstances },
    { name: 'endpoints', kind: limitedEndpoints, most: (limits: PlanLimits) => limits.maxWebhookEndpoints },
    { name: 'keys', kind: limitedKeys, most: (limits: PlanLimits) => limits.maxApiKeys },
  ] as const
}

export async function fitPlan(app: App, userId: string): Promise<void> {
  await transaction(app.db, async (tx) => {
    // Creations take this lock too, so the counts hold until the commit.
    const { plan, fellAt, rests } = await lockSubscriptionAt(tx, userId, new Date())
    if (!fellAt && !rests) return
    const { name, limits } = planOf(plan)
    const rested = { instances: [] as string[], endpoints: [] as string[], keys: [] as string[] }
    let resting = 0
    for (const { name, kind, most } of limitedKinds(app)) {
      const fitted = await kind.fit(app, tx, { ownerId: userId, most: most(limits), fell: fellAt !== null })
      rested[name] = fitted.rested
      resting += fitted.resting
    }
    await storeFit(tx, userId, resting > 0)
    if (Object.values(rested).every((names) => names.length === 0)) return
    const { email } = await personOf(tx.db, userId)
    await orderMail(app, tx, { kind: 'rests', to: email, plan: name, ...rested })
    app.log.info({ userId, plan }, 'what exceeds a plan that fell rests now')
  })
  app.signals.emit('outbox')
}

/**
 * Returns the owners for whom {@link fitPlan} has something to do, among those of whom something rests: the plan has room again, or what
 * rested is gone. Takes no lock.
 */
export async function findChanged(app: App, owners: readonly { userId: string; plan: string }[]): Promise<string[]> {
  const limits = new Map(owners.map(({ userId, plan }) => [userId, planOf(plan).limits]))
  const full = new Set<string>()
  const withRoom = new Set<string>()
  for (const { kind, most } of limitedKinds(app)) {
    for (const { ownerId, working } of await countWorking(app.pool, kind.counted, [...limits.keys()])) {
      const isFull = working >= most(limits.get(ownerId) as PlanLimits)
      ;(isFull ? full : withRoom).add(ownerId)
    }
  }
  return [...limits.keys()].filter((userId) => withRoom.has(userId) || !full.has(userId))
}
