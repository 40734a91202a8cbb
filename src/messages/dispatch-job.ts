// The job that brings one message to its provider: who asks for it, in which order.
import { z } from 'zod'
import { defineJob, type JobRequest } from '../core/jobs.ts'

/** Instant messages overtake scheduled ones, and both overtake campaigns. */
export const priorities = { instant: 10, scheduled: 5, campaign: 0 } as const

export const dispatchJob = defineJob({
  name: 'message.dispatch',
  schema: z.object({ id: z.string() }),
  options: { notify: true, retryLimit: 1000, retryDelay: 0, heartbeatSeconds: 10, expireInSeconds: 120, deleteAfterSeconds: 60 },
})

export interface Dispatchable {
  id: string
  scheduledAt: Date | null
  campaignId: string | null
}

/** The job of one message. */
export function dispatchRequest(message: Dispatchable, startAfter?: Date): JobRequest<{ id: string }> {
  const kind = message.campaignId ? 'campaign' : message.scheduledAt ? 'scheduled' : 'instant'
  return { data: { id: message.id }, priority: priorities[kind], startAfter }
}

/** The job that ends a message's wait. It has the message's own id, so that a message that waits again has no second one. */
export function expiryRequest(message: Dispatchable, startAfter: Date): JobRequest<{ id: string }> {
  return { ...dispatchRequest(message, startAfter), id: message.id }
}
