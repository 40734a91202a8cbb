// Scheduled job of contacts: deletes expired bulk jobs.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { pruneBulkJobs } from './prune.ts'

const pruneBulkJobsJob = defineJob({
  name: 'contacts.prune',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '47 * * * *',
})

export const contactJobs: readonly JobImplementation[] = [
  implementJob(pruneBulkJobsJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const pruned = await pruneBulkJobs(app)
    if (pruned > 0) app.log.info({ pruned }, 'old bulk jobs deleted')
    return jobs.map(() => undefined)
  }),
]
