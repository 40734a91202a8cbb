// Definition of the job that applies one operation to many contacts: its queue and its retry policy.
import { z } from 'zod'
import { defineJob } from '../../core/jobs/jobs.ts'

export const bulkJob = defineJob({
  name: 'contact.bulk',
  schema: z.object({
    id: z.string(),
    /** The account that pays for the workspace; a job that an older version added has none. */
    ownerId: z.string().optional(),
  }),
  options: {
    retryLimit: 5,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 30,
    heartbeatSeconds: 10,
    // Contacts with very many messages, deleted in the smallest chunks, take hours. The heartbeat ends the try of a dead process long before.
    expireInSeconds: 21_600,
    deleteAfterSeconds: 60,
  },
})
