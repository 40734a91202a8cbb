// Reconciliation: compares subscriptions with Stripe whose period ended a while ago without an event, because events can be lost.
import type { App } from '../../core/app.ts'
import { dayMs } from '../../core/durations.ts'
import type { BillingApp } from '../provider.ts'
import { touchSubscription } from '../subscriptions.sql.ts'
import { openStripe } from './client.ts'
import { syncCustomer } from './sync.ts'

/** Maximum per run. The next run takes the others, because a compared subscription moves to the end of the order. */
const atOnce = 200
const turnMs = 300_000
/** How long after the end of its period a subscription is overdue. */
const overdueAfterMs = dayMs
/** After this many failures in a row, Stripe counts as down and the run ends. */
const failuresAllowed = 3

/** Stores the current state at Stripe, least recently checked subscriptions first. Returns how many were stored. */
export async function syncOverdue(app: BillingApp & Pick<App, 'stopping'>): Promise<number> {
  const account = await openStripe(app)
  if (!account) return 0
  const rows = await app.db.subscription.findMany({
    where: { provider: 'stripe', customerId: { not: null }, currentPeriodEnd: { lt: new Date(Date.now() - overdueAfterMs) } },
    orderBy: [{ updatedAt: 'asc' }, { userId: 'asc' }],
    take: atOnce,
  })
  const begin = performance.now()
  let [synced, failures] = [0, 0]
  for (const { userId, customerId } of rows) {
    if (failures >= failuresAllowed || app.stopping || performance.now() - begin > turnMs) break
    try {
      await syncCustomer(app, account, customerId as string)
      synced++
      failures = 0
    } catch (err) {
      failures++
      app.log.warn({ err, userId }, 'a subscription could not be compared with Stripe; it will be retried')
      await touchSubscription(app.pool, userId)
    }
  }
  return synced
}
