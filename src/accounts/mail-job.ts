// The job that sends one mail: who asks for it, and how long it is tried. A dead mail server costs time, not mail.
import { z } from 'zod'
import { defineJob } from '../core/jobs.ts'

export const mailJob = defineJob({
  name: 'mail.send',
  schema: z.object({ id: z.string() }),
  options: {
    notify: true,
    // About three days, which is longer than any token in it holds.
    retryLimit: 60,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 3_600,
    heartbeatSeconds: 10,
    deleteAfterSeconds: 3_600,
  },
})
