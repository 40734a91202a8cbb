// What accounts do by the clock.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs.ts'
import { pruneTries } from './login-guard.ts'

const pruneJob = defineJob({
  name: 'accounts.prune',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '23 * * * *',
})

export const accountJobs: readonly JobImplementation[] = [
  implementJob(pruneJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    await pruneTries(app.pool)
    await app.pool.query('delete from auth_sessions where "expiresAt" < now()')
    await app.pool.query('delete from auth_verifications where "expiresAt" < now()')
    return jobs.map(() => undefined)
  }),
]
