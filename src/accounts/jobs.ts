// Scheduled clean-up jobs of the accounts domain.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { definePrune } from '../core/jobs/prune.ts'
import { expiredCounts } from './counts.ts'
import { expiredKeyDays } from './keys/key-days.ts'
import { pruneUnproved } from './sign-in/prune-unproved.ts'

export const pruneAccounts = definePrune(
  { name: 'accounts.prune', cron: '23 * * * *' },
  expiredCounts,
  expiredKeyDays,
  { table: 'auth_sessions', where: '"expiresAt" < now()' },
  { table: 'auth_verifications', where: '"expiresAt" < now()' },
)

// Not by `definePrune`: an account is rows of several tables, and each is deleted in a transaction of its own, because what it owns may
// prevent the deletion.
const unprovedJob = defineJob({
  name: 'accounts.prune-unproved',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 3_600 },
  cron: '47 3 * * *',
})

export const accountJobs: readonly JobImplementation[] = [
  pruneAccounts,
  implementJob(unprovedJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    await pruneUnproved(app.db)
    return jobs.map(() => undefined)
  }),
]
