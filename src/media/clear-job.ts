// Definition of the job that deletes the files of a workspace that has ended, some at a time.
import { z } from 'zod'
import { defineJob } from '../core/jobs/jobs.ts'

export const clearJob = defineJob({
  name: 'media.clear',
  schema: z.object({ workspaceId: z.string() }),
  options: {
    policy: 'short',
    // Enough retries for a store that is down for a day.
    retryLimit: 100,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 1_800,
    heartbeatSeconds: 10,
    expireInSeconds: 600,
    deleteAfterSeconds: 3_600,
  },
})
