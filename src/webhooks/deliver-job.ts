// The job that reports a due delivery. The delivery's row is authoritative: a late or lost job only costs time.
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
