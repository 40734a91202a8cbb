// The job that follows the end of a team: its webhooks end, and what its workspace has connected is logged out and deleted.
import { z } from 'zod'
import { defineJob } from '../core/jobs/jobs.ts'

export const closedJob = defineJob({
  name: 'teams.closed',
  schema: z.object({ workspaceId: z.string() }),
  options: {
    notify: true,
    // A provider may be down for a day.
    retryLimit: 100,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 1_800,
    heartbeatSeconds: 10,
    expireInSeconds: 600,
    deleteAfterSeconds: 3_600,
  },
})
