// Scheduled job of media: removes abandoned uploads and the remains of deletions.
import { type JobImplementation, scheduleJob } from '../core/jobs/jobs.ts'
import { sweepMedia } from './service.ts'

export const mediaJobs: readonly JobImplementation[] = [
  // Not by `definePrune`: the bytes of a file are removed from the store before its row is deleted.
  scheduleJob({ name: 'media.sweep', cron: '37 * * * *' }, async (app) => {
    const swept = await sweepMedia(app)
    if (swept > 0) app.log.info({ swept }, 'interrupted uploads removed')
  }),
]
