// Deliveries on request: a test, and one more attempt of an old delivery.
import type { Context } from '../core/context.ts'
import { fail, failFor } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { enqueue } from '../core/jobs/jobs.ts'
import type { WebhookDelivery } from '../generated/prisma/client.ts'
import { deliverJob, deliverRequest } from './deliver-job.ts'
import { retentionDays } from './policy.ts'
import { samplePayload } from './sample.ts'
import { type Endpoint, holdEndpoint } from './service.ts'

/** Limited because a test makes a request to any address that the endpoint names. */
const testsPerMinute = 10

/**
 * Sends one signed delivery of a sample event, of the first type that the endpoint subscribes to. It is attempted once.
 * @throws INVALID_STATE when the endpoint is disabled, API_RATE_LIMIT_EXCEEDED when it had {@link testsPerMinute} tests in the last
 * minute (exact under concurrency); as {@link holdEndpoint}.
 */
export async function testEndpoint(ctx: Context, id: string): Promise<WebhookDelivery> {
  return await write(ctx, async (tx) => {
    const endpoint = await holdEndpoint(ctx, tx, id)
    refuseDisabled(endpoint)
    const { rows: lately } = await tx.query<{ seconds: number }>(
      `select ceil(extract(epoch from "createdAt" + interval '1 minute' - now()))::int as seconds from webhook_deliveries
       where "endpointId" = $1 and "eventSeq" is null and "createdAt" > now() - interval '1 minute'
       order by "createdAt" desc offset $2 limit 1`,
      [id, testsPerMinute - 1],
    )
    if (lately[0])
      failFor(
        Math.max(1, lately[0].seconds),
        'API_RATE_LIMIT_EXCEEDED',
        `At most ${testsPerMinute} tests of an endpoint a minute`,
      )
    const type = endpoint.events[0] ?? 'message.sent'
    const eventId = newId()
    const { rows } = await tx.query<WebhookDelivery>(
      `insert into webhook_deliveries (id, "endpointId", "eventId", type, payload, "attemptsLeft", "byHand", "nextAttemptAt")
       values ($1, $2, $3, $4, $5, 0, true, now()) returning *`,
      [newId(), id, eventId, type, JSON.stringify(samplePayload(type, eventId, new Date()))],
    )
    const delivery = rows[0] as WebhookDelivery
    await enqueue(ctx.app, tx, deliverJob, [deliverRequest(delivery)])
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
    const found = await tx.query<{ endpointId: string }>(
      `select d."endpointId" from webhook_deliveries d join webhook_endpoints e on e.id = d."endpointId"
       where d.id = $1 and e."workspaceId" = $2 and e."deletedAt" is null and ($3::uuid is null or e.id = $3)
         and d."createdAt" > now() - make_interval(days => $4)`,
      [deliveryId, ctx.principal.workspaceId, endpointId ?? null, retentionDays],
    )
    const owner = found.rows[0]?.endpointId ?? fail('NOT_FOUND', 'Webhook delivery not found')
    refuseDisabled(await holdEndpoint(ctx, tx, owner))
    const { rows } = await tx.query<WebhookDelivery>(
      `update webhook_deliveries set "byHand" = true, "nextAttemptAt" = now(),
         status = case when "attemptsLeft" > 0 then status else 'pending' end
       where id = $1 and ("leaseUntil" is null or "leaseUntil" <= now()) returning *`,
      [deliveryId],
    )
    const delivery = rows[0] ?? fail('INVALID_STATE', 'An attempt is being made right now')
    await enqueue(ctx.app, tx, deliverJob, [deliverRequest(delivery)])
    return delivery
  })
}

function refuseDisabled(endpoint: Endpoint): void {
  if (endpoint.disabledAt) fail('INVALID_STATE', 'The endpoint is disabled; enable it first')
}
