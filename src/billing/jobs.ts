// Scheduled jobs of the billing domain.
import type pg from 'pg'
import { z } from 'zod'
import { sqlTransaction } from '../core/database/transaction.ts'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { syncOverdue } from './stripe/overdue.ts'
import { freeSince, storeSubscription } from './subscription.ts'
import { lockEnded } from './subscriptions.sql.ts'

const overdueJob = defineJob({
  name: 'billing.sync_overdue',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '53 * * * *',
})

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
  implementJob(overdueJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const synced = await syncOverdue(app)
    if (synced > 0) app.log.info({ synced }, 'subscriptions with lost events were corrected from Stripe')
    return jobs.map(() => undefined)
  }),
]
