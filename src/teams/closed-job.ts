// The job that runs after a team was deleted: its webhooks end, its instances are logged out and deleted, and the deletion of its media begins.
import { z } from 'zod'
import { defineJob, outlastsOutage } from '../core/jobs/jobs.ts'

export const closedJob = defineJob({
  name: 'teams.closed',
  schema: z.object({ workspaceId: z.string() }),
  options: outlastsOutage,
})
