// Reconciliation: asks Stripe about subscriptions whose period ended a while ago without an event, because events can be lost.
import type { App } from '../../core/app.ts'
import type { BillingApp } from '../provider.ts'
import { touched } from '../subscription.ts'
import { openStripe } from './client.ts'
import { syncCustomer } from './sync.ts'

/** Maximum per run. The next run takes the others, because a subscription that was asked about moves to the end of the order. */
const atOnce = 200
const turnMs = 300_000
/** After this many failures in a row, Stripe counts as down and the run ends. */
const failuresAllowed = 3

/** Stores the current state at Stripe, least recently checked subscriptions first. Returns how many were stored. */
export async function syncOverdue(app: BillingApp & Pick<App, 'stopping'>): Promise<number> {
  const account = await openStripe(app)
  if (!account) return 0
  const { rows } = await app.pool.query<{ userId: string; customerId: string }>(
    `select "userId", "customerId" from subscriptions
     where provider = 'stripe' and "customerId" is not null and "currentPeriodEnd" < now() - interval '1 day'
     order by "updatedAt", "userId" limit $1`,
    [atOnce],
  )
  const begin = performance.now()
  let [synced, failures] = [0, 0]
  for (const { userId, customerId } of rows) {
    if (failures >= failuresAllowed || app.stopping || performance.now() - begin > turnMs) break
    try {
      await syncCustomer(app, account, customerId)
      synced++
      failures = 0
    } catch (err) {
      failures++
      app.log.warn({ err, userId }, 'a subscription could not be compared with Stripe; it is tried again later')
      await app.pool.query(`update subscriptions set "updatedAt" = ${touched} where "userId" = $1`, [userId])
    }
  }
  return synced
}
