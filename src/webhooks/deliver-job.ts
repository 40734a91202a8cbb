// The job that says: this delivery is due. The delivery's row is the truth; a job that is late or lost costs time only.
import { z } from 'zod'
import { defineJob, type JobRequest } from '../core/jobs/jobs.ts'

export interface DeliveryRef {
  id: string
  endpointId: string
}

export const deliverJob = defineJob<DeliveryRef>({
  name: 'webhook.deliver',
  schema: z.object({ id: z.string(), endpointId: z.string() }),
  options: { notify: true, retryLimit: 10, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

export function deliverRequest({ id, endpointId }: DeliveryRef, startAfter?: Date): JobRequest<DeliveryRef> {
  return { data: { id, endpointId }, startAfter }
}

/** Deletes what has been kept long enough. */
export const pruneJob = defineJob({
  name: 'webhook.prune',
  schema: z.object({}),
  options: { retryLimit: 3, expireInSeconds: 600, deleteAfterSeconds: 3600 },
  cron: '17 * * * *',
})
