// Definition of the job that deletes the files of a workspace that has ended, some at a time.
import { z } from 'zod'
import { defineJob, outlastsOutage } from '../core/jobs/jobs.ts'

export const clearJob = defineJob({
  name: 'media.clear',
  schema: z.object({ workspaceId: z.string() }),
  options: { ...outlastsOutage, policy: 'short' },
})
