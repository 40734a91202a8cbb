// Deliveries on request: a test, and one more attempt of an old delivery.
import type { Context } from '../core/context.ts'
import { dayMs } from '../core/durations.ts'
import { fail, failFor } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import type { WebhookDelivery } from '../generated/prisma/client.ts'
import { deliverJob, deliverRequest } from './deliver-job.ts'
import { retentionDays } from './policy.ts'
import { insertTest, makeDue, secondsUntilTest } from './redeliver.sql.ts'
import { type Endpoint, lockOwnEndpoint } from './service.ts'

/** Limited because a test makes a request to any address that the endpoint names. */
const testsPerMinute = 10

/**
 * Sends one signed delivery of a sample event, of the first type that the endpoint subscribes to. It is attempted once.
 * @throws INVALID_STATE when the endpoint is disabled, API_RATE_LIMIT_EXCEEDED when it had {@link testsPerMinute} tests in the last
 * minute (exact under concurrency); as {@link lockOwnEndpoint}.
 */
export async function testEndpoint(ctx: Context, id: string): Promise<WebhookDelivery> {
  return await write(ctx, async (tx) => {
    const endpoint = await lockOwnEndpoint(ctx, tx, id)
    refuseDisabled(endpoint)
    const seconds = await secondsUntilTest(tx, id, testsPerMinute)
    if (seconds !== null) {
      failFor(Math.max(1, seconds), 'API_RATE_LIMIT_EXCEEDED', `At most ${testsPerMinute} test events a minute for an endpoint`)
    }
    const type = endpoint.events[0] ?? 'message.sent'
    const eventId = newId()
    const delivery = await insertTest(tx, {
      id: newId(),
      endpointId: id,
      eventId,
      type,
      payload: ctx.app.hooks.sampleEvent(type, eventId, new Date()),
    })
    await enqueue(ctx.app, tx, deliverJob, [deliverRequest(delivery, 'single')])
    return delivery
  })
}

/**
 * Makes one more attempt now, whatever the status of the delivery. It does not count as one of the five automatic attempts. If it fails
 * and some of those are left, they continue.
 * @param endpointId when given, the delivery must belong to this endpoint
 * @throws NOT_FOUND when there is no such delivery in the last 30 days, FORBIDDEN when the caller is a collaborator, INVALID_STATE when
 * an attempt is in progress or the endpoint is disabled
 */
export async function redeliver(ctx: Context, deliveryId: string, endpointId?: string): Promise<WebhookDelivery> {
  return await write(ctx, async (tx) => {
    const { workspaceId } = ctx.principal
    const found = await tx.db.webhookDelivery.findFirst({
      where: {
        id: deliveryId,
        endpointId,
        endpoint: { workspaceId, deletedAt: null },
        createdAt: { gt: new Date(Date.now() - retentionDays * dayMs) },
      },
      select: { endpointId: true },
    })
    const owner = found?.endpointId ?? fail('NOT_FOUND', 'Webhook delivery not found')
    refuseDisabled(await lockOwnEndpoint(ctx, tx, owner))
    const delivery = (await makeDue(tx, deliveryId)) ?? fail('INVALID_STATE', 'An attempt is in progress')
    await enqueue(ctx.app, tx, deliverJob, [deliverRequest(delivery, 'single')])
    return delivery
  })
}

/** @throws INVALID_STATE when the endpoint is disabled. */
export function refuseDisabled(endpoint: Endpoint): void {
  if (endpoint.disabledAt) fail('INVALID_STATE', 'The endpoint is disabled; enable it first')
}
