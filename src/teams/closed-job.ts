// The job that runs after a team was deleted: its webhooks end, its instances are logged out and deleted, and the deletion of its media begins.
import { z } from 'zod'
import { defineJob } from '../core/jobs/jobs.ts'

export const closedJob = defineJob({
  name: 'teams.closed',
  schema: z.object({ workspaceId: z.string() }),
  options: {
    // Enough retries for a provider that is down for a day.
    retryLimit: 100,
    retryDelay: 2,
    retryBackoff: true,
    retryDelayMax: 1_800,
    heartbeatSeconds: 10,
    expireInSeconds: 600,
    deleteAfterSeconds: 3_600,
  },
})
