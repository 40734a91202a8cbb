// Subscriptions whose period ended a while ago without a word from Stripe: its events were lost, so it is asked.
import type { App } from '../../core/app.ts'
import type { BillingApp } from '../provider.ts'
import { touched } from '../subscription.ts'
import { openStripe } from './client.ts'
import { syncCustomer } from './sync.ts'

/** In one go; the others have their turn in the next, because whoever was asked about goes to the end of the line. */
const atOnce = 200
const turnMs = 300_000
/** After so many in a row Stripe is taken to be away. */
const failuresAllowed = 3

/** Stores what Stripe says of them, those first that were looked at least recently; answers how many it said something of. */
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
