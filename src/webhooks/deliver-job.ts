// The job that reports due deliveries. The rows of the deliveries are authoritative: a late or lost job only costs time.
import { z } from 'zod'
import type { App } from '../core/app.ts'
import type { Sql } from '../core/database/database.ts'
import { defineJob, enqueue, type JobRequest } from '../core/jobs/jobs.ts'
import { shareJobs } from '../core/jobs/shared-jobs.ts'

export interface DeliveryRef {
  id: string
  endpointId: string
}

const one = z.object({ id: z.string(), endpointId: z.string() })
/** One delivery, or several that became due together. */
const schema = z.union([one, z.object({ deliveries: z.array(one) })])

/** The deliveries of a job. */
export const deliveriesOf = (data: z.infer<typeof schema>): readonly DeliveryRef[] =>
  'deliveries' in data ? data.deliveries : [data]

export const deliverJob = defineJob({
  name: 'webhook.deliver',
  schema,
  options: { retryLimit: 10, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/** `single`: one of few, which does not wait for the deliveries that others have in bulk. */
export type Urgency = 'single' | 'bulk'

const priorities = { single: 1, bulk: 0 } as const

export function deliverRequest({ id, endpointId }: DeliveryRef, urgency: Urgency, startAfter?: Date): JobRequest<DeliveryRef> {
  return { data: { id, endpointId }, priority: priorities[urgency], startAfter }
}

/** Adds jobs for deliveries that are due at once, in the transaction `tx`. */
export async function enqueueDue(app: Pick<App, 'boss'>, tx: Sql, due: readonly DeliveryRef[], urgency: Urgency): Promise<void> {
  const requests = due.map((delivery) => deliverRequest(delivery, urgency))
  await enqueue(
    app,
    tx,
    deliverJob,
    shareJobs(requests, (deliveries) => ({ deliveries })),
  )
}
