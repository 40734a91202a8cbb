// Scheduled jobs of the billing domain.
import type pg from 'pg'
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { syncOverdue } from './stripe/overdue.ts'
import { freeSince } from './subscription.ts'
import { endCancelled } from './subscriptions.sql.ts'

const endPeriodsJob = defineJob({
  name: 'billing.end_periods',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '* * * * *',
})

const overdueJob = defineJob({
  name: 'billing.sync_overdue',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '53 * * * *',
})

const atOnce = 500

/** Stores Free for cancelled subscriptions whose period has ended; admission treats them as Free already. Returns how many. */
export async function endPeriods(pool: pg.Pool): Promise<number> {
  let ended = 0
  for (;;) {
    const free = freeSince(new Date())
    const count = await endCancelled(pool, free.currentPeriodStart, free.currentPeriodEnd, atOnce)
    ended += count
    if (count < atOnce) return ended
  }
}

export const billingJobs: readonly JobImplementation[] = [
  implementJob(endPeriodsJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const ended = await endPeriods(app.pool)
    if (ended > 0) app.log.info({ ended }, 'ended subscriptions are now on the Free plan')
    return jobs.map(() => undefined)
  }),
  implementJob(overdueJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const synced = await syncOverdue(app)
    if (synced > 0) app.log.info({ synced }, 'subscriptions with lost events were corrected from Stripe')
    return jobs.map(() => undefined)
  }),
]
