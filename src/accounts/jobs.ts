// Scheduled clean-up jobs of the accounts domain.
import { type JobImplementation, scheduleJob } from '../core/jobs/jobs.ts'
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

const unproved = {
  name: 'accounts.prune-unproved',
  cron: '47 3 * * *',
  options: { retryLimit: 2, expireInSeconds: 3_600 },
}

export const accountJobs: readonly JobImplementation[] = [
  pruneAccounts,
  // Not by `definePrune`: an account is rows of several tables, and each is deleted in a transaction of its own, because what it owns may
  // prevent the deletion.
  scheduleJob(unproved, (app) => pruneUnproved(app.db)),
]
