// Jobs of media: one removes abandoned uploads and the remains of deletions by the clock, the other the files of ended workspaces.
import { sqlTransaction } from '../core/database/transaction.ts'
import { enqueueUnder, implementJob, type JobImplementation, scheduleJob } from '../core/jobs/jobs.ts'
import { clearJob } from './clear-job.ts'
import { deleteSomeMedia, sweepMedia } from './service.ts'

export const mediaJobs: readonly JobImplementation[] = [
  // Not by `definePrune`: the bytes of a file are removed from the store before its row is deleted.
  scheduleJob({ name: 'media.sweep', cron: '37 * * * *' }, async (app) => {
    const swept = await sweepMedia(app)
    if (swept > 0) app.log.info({ swept }, 'interrupted uploads removed')
  }),
  implementJob(clearJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    for (const { workspaceId } of jobs) {
      if (await deleteSomeMedia(app, workspaceId)) continue
      // The new job runs after those of other workspaces, which would otherwise wait for very many files.
      await sqlTransaction(app.pool, (tx) => enqueueUnder(app, tx, clearJob, workspaceId, { data: { workspaceId } }))
    }
    return jobs.map(() => undefined)
  }),
]
