// Scheduled job of the event log: deletes expired events.
import { z } from 'zod'
import { defineJob, implementJob, type JobImplementation } from '../core/jobs/jobs.ts'
import { pruneEvents } from './log/prune.ts'

const pruneEventsJob = defineJob({
  name: 'events.prune',
  schema: z.object({}),
  options: { retryLimit: 2, expireInSeconds: 600 },
  cron: '17 * * * *',
})

export const eventJobs: readonly JobImplementation[] = [
  implementJob(pruneEventsJob, { batchSize: 1, workers: 1 }, async (app, jobs) => {
    const pruned = await pruneEvents(app)
    if (pruned > 0) app.log.info({ pruned }, 'old events deleted')
    return jobs.map(() => undefined)
  }),
]
