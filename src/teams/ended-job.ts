// Definition of the job that deletes the data of an account that has ended.
import { z } from 'zod'
import { defineJob } from '../core/jobs/jobs.ts'

export const endedJob = defineJob({
  name: 'accounts.ended',
  schema: z.object({
    userId: z.string(),
    /** The number of the last event that an earlier turn emptied, by workspace. */
    emptiedTo: z.record(z.string(), z.string()).optional(),
  }),
  options: {
    // Enough retries for a provider that is down for a day.
    retryLimit: 200,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 900,
    heartbeatSeconds: 10,
    expireInSeconds: 3_600,
    deleteAfterSeconds: 3_600,
  },
})
