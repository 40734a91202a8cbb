// Scheduled job of media: removes abandoned uploads and the remains of deletions.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { sweepMedia } from './service.ts'

// Not by `definePrune`: the bytes of a file are removed from the store before its row is deleted.
const sweepMediaJob = defineJob({
  name: 'media.sweep',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '37 * * * *',
})

export const mediaJobs: readonly JobImplementation[] = [
  implementJob(sweepMediaJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const swept = await sweepMedia(app)
    if (swept > 0) app.log.info({ swept }, 'interrupted uploads removed')
    return jobs.map(() => undefined)
  }),
]
