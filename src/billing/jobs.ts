// Scheduled jobs of the billing domain.
import type pg from 'pg'
import { sqlTransaction } from '../core/database/transaction.ts'
import { type JobImplementation, scheduleJob } from '../core/jobs/jobs.ts'
import { syncOverdue } from './stripe/overdue.ts'
import { freeSince, storeSubscription } from './subscription.ts'
import { lockEnded } from './subscriptions.sql.ts'

/** Stores Free for cancelled subscriptions whose period has ended; admission treats them as Free already. Returns how many. */
export async function endPeriods(pool: pg.Pool): Promise<number> {
  for (let ended = 0; ; ended++) {
    const isOne = await sqlTransaction(pool, async (tx) => {
      const userId = await lockEnded(tx)
      if (userId) await storeSubscription(tx, userId, freeSince(new Date()))
      return userId !== undefined
    })
    if (!isOne) return ended
  }
}

export const billingJobs: readonly JobImplementation[] = [
  scheduleJob({ name: 'billing.sync_overdue', cron: '53 * * * *' }, async (app) => {
    const synced = await syncOverdue(app)
    if (synced > 0) app.log.info({ synced }, 'subscriptions with lost events were corrected from Stripe')
  }),
]
