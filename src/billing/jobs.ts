// Scheduled jobs of the billing domain.
import { type JobImplementation, scheduleJob } from '../core/jobs/jobs.ts'
import { definePrune } from '../core/jobs/prune.ts'
import { expiredWindows } from './admission/rate-window.sql.ts'
import { syncOverdue } from './stripe/overdue.ts'

export const pruneBilling = definePrune({ name: 'billing.prune', cron: '43 * * * *' }, expiredWindows)

export const billingJobs: readonly JobImplementation[] = [
  pruneBilling,
  scheduleJob({ name: 'billing.sync_overdue', cron: '53 * * * *' }, async (app) => {
    const synced = await syncOverdue(app)
    if (synced > 0) app.log.info({ synced }, 'subscriptions with lost events were corrected from Stripe')
  }),
]
