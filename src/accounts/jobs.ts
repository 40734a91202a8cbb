// Scheduled clean-up jobs of the accounts domain.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { pruneCounts } from './counts.ts'
import { pruneUnproved } from './sign-in/prune-unproved.ts'

const pruneJob = defineJob({
  name: 'accounts.prune',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '23 * * * *',
})

const unprovedJob = defineJob({
  name: 'accounts.prune-unproved',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 3_600 },
  cron: '47 3 * * *',
})

export const accountJobs: readonly JobImplementation[] = [
  implementJob(pruneJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    await pruneCounts(app.pool)
    await app.pool.query('delete from auth_sessions where "expiresAt" < now()')
    await app.pool.query('delete from auth_verifications where "expiresAt" < now()')
    return jobs.map(() => undefined)
  }),
  implementJob(unprovedJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    await pruneUnproved(app.pool)
    return jobs.map(() => undefined)
  }),
]
