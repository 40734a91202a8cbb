// The job that redelivers many deliveries of an endpoint. One job waits for each redelivery, and does one chunk of it.
import { z } from 'zod'
import { defineJob } from '../core/jobs/jobs.ts'

export const redeliveryJob = defineJob({
  name: 'webhook.redeliver',
  schema: z.object({ id: z.string() }),
  options: {
    policy: 'short',
    retryLimit: 20,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 30,
    heartbeatSeconds: 10,
    expireInSeconds: 60,
    deleteAfterSeconds: 60,
  },
})
