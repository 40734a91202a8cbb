// Lets everything rest that exceeds a smaller plan, and tells the owner by one mail. Wakes it when the plan allows it again.
import { personOf } from '../accounts/find-user.ts'
import { fitKeys } from '../accounts/keys/over-plan.ts'
import { orderMail } from '../accounts/mail/order.ts'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database/transaction.ts'
import { planOf } from './plans.ts'
import { lockSubscriptionAt } from './subscription.ts'
import { storeFit } from './subscriptions.sql.ts'

export async function fitPlan(app: App, userId: string): Promise<void> {
  await transaction(app.db, async (tx) => {
    // Creations take this lock too, so the counts hold until the commit.
    const { plan, fellAt, rests } = await lockSubscriptionAt(tx, userId, new Date())
    if (!fellAt && !rests) return
    const { name, limits } = planOf(plan)
    const of = (most: number) => ({ ownerId: userId, most, fell: fellAt !== null })
    const instances = await app.hooks.fitInstances(app, tx, of(limits.maxInstances))
    const endpoints = await app.hooks.fitEndpoints(app, tx, of(limits.maxWebhookEndpoints))
    const keys = await fitKeys(tx, of(limits.maxApiKeys))
    await storeFit(tx, userId, instances.resting + endpoints.resting + keys.resting > 0)
    const rested = { instances: instances.rested, endpoints: endpoints.rested, keys: keys.rested }
    if (Object.values(rested).every((names) => names.length === 0)) return
    const { email } = await personOf(tx.db, userId)
    await orderMail(app, tx, { kind: 'rests', to: email, plan: name, ...rested })
    app.log.info({ userId, plan }, 'what exceeds a plan that fell rests now')
  })
  app.signals.emit('outbox')
}
