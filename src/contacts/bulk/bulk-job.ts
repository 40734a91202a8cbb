// The job that does one thing to many contacts: who asks for it, and how often it may be tried.
import { z } from 'zod'
import { defineJob } from '../../core/jobs/jobs.ts'

export const bulkJob = defineJob({
  name: 'contact.bulk',
  schema: z.object({ id: z.string() }),
  options: {
    notify: true,
    retryLimit: 5,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 30,
    heartbeatSeconds: 10,
    deleteAfterSeconds: 60,
  },
})
