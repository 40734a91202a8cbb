// The job that sends one mail: who asks for it, and how long it is tried. A dead mail server costs time, not mail.
import { z } from 'zod'
import { defineJob } from '../../core/jobs/jobs.ts'

export const mailJob = defineJob({
  name: 'mail.send',
  schema: z.object({ id: z.string() }),
  options: {
    notify: true,
    // Eleven gaps that double up to an hour, and then one each hour: about three days. By then the links that people ask for again have
    // run out; an invitation, which holds longer, can be taken back and made anew.
    retryLimit: 82,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 3_600,
    heartbeatSeconds: 10,
    deleteAfterSeconds: 3_600,
  },
})
