// Definition of the job that erases the messages with one number.
import { z } from 'zod'
import { defineJob } from '../../core/jobs/jobs.ts'

export const eraseJob = defineJob({
  name: 'messages.erase',
  schema: z.object({
    workspaceId: z.string(),
    /** The account that pays for the workspace; a job that an older version added has none. */
    ownerId: z.string().optional(),
    /** Not an id, because the contact is gone. The row of the job goes soon after its end. */
    phone: z.string(),
    /** Messages from after the request stay. */
    before: z.iso.datetime(),
  }),
  options: { retryLimit: 200, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 600, deleteAfterSeconds: 60 },
})
