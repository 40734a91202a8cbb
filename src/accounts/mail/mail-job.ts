// The job that sends one mail, with its retry schedule. Mail survives an outage of the mail server of about three days.
import { z } from 'zod'
import { defineJob } from '../../core/jobs/jobs.ts'

export const mailJob = defineJob({
  name: 'mail.send',
  schema: z.object({ id: z.string() }),
  options: {
    // Eleven delays that double up to one hour, then one attempt per hour: about three days. By then, the links that people can request
    // again have expired. An invitation is valid longer; it can be revoked and sent again.
    retryLimit: 82,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 3_600,
    heartbeatSeconds: 10,
    deleteAfterSeconds: 3_600,
  },
})
