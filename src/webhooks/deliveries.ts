// Reads deliveries, their payloads, and the records that they belong to.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import type { Condition } from '../core/graph/list.sql.ts'
import { loadFound } from '../core/graph/load.ts'
import { tableOf } from '../core/graph/table.ts'
import { moment, parse } from '../core/validation.ts'
import type { DeliveryStatus, WebhookDelivery, WebhookEndpoint } from '../generated/prisma/client.ts'
import { readMessageIds, readPayloads } from './deliveries.sql.ts'

export const deliveryTable = tableOf('WebhookDelivery', 'webhook_deliveries')

interface DeliveryFilter {
  status?: DeliveryStatus | null
  event?: string | null
  createdFrom?: unknown
  createdTo?: unknown
}

/** The filters of a list of deliveries. @throws VALIDATION_ERROR when a time is invalid. */
export function deliveryConditions({ status, event, createdFrom, createdTo }: DeliveryFilter): Condition[] {
  const at = (value: unknown, name: string) => new Date(parse(moment, value, name))
  return [
    ...(status ? [['status', '=', status] as const] : []),
    ...(event ? [['type', '=', event] as const] : []),
    ...(createdFrom == null ? [] : [['createdAt', '>=', at(createdFrom, 'createdFrom')] as const]),
    ...(createdTo == null ? [] : [['createdAt', '<', at(createdTo, 'createdTo')] as const]),
  ]
}

/** Condition of the partial index that holds the deliveries with this status. Most are delivered, and have none. */
export function indexCondition(status: DeliveryStatus | null | undefined): string | undefined {
  if (!status || status === 'delivered') return undefined
  // An open delivery has a next attempt, also while one is in progress; no other has.
  return status === 'failed' ? `t.status = 'failed'` : 't."nextAttemptAt" is not null'
}

/** @throws NOT_FOUND when the workspace has no such delivery, or its endpoint was deleted. */
export async function readDelivery({ app, principal }: Context, id: string): Promise<WebhookDelivery> {
  const where = { id, endpoint: { workspaceId: principal.workspaceId, deletedAt: null } }
  return (await app.db.webhookDelivery.findFirst({ where })) ?? fail('NOT_FOUND', 'Webhook delivery not found')
}

/** An endpoint of the workspace; null if it was deleted. */
export async function webhookOf(ctx: Context, endpointId: string): Promise<WebhookEndpoint | null> {
  return await loadFound(ctx, 'endpoints', endpointId, null, async (ids) => {
    const where = { id: { in: [...ids] }, workspaceId: ctx.principal.workspaceId, deletedAt: null }
    return new Map((await ctx.app.db.webhookEndpoint.findMany({ where })).map((row) => [row.id, row]))
  })
}

/** The message of an event; null if it is about none. */
export async function messageIdOf(ctx: Context, eventSeq: bigint): Promise<string | null> {
  return await loadFound(ctx, 'messages of events', String(eventSeq), null, async (seqs) => {
    return new Map((await readMessageIds(ctx.app.pool, seqs)).map((row) => [row.seq, row.messageId]))
  })
}

/** The exact object that was or will be delivered. */
export async function payloadOf(ctx: Context, deliveryId: string): Promise<unknown> {
  return await loadFound(ctx, 'payloads of deliveries', deliveryId, null, async (ids) => {
    return new Map((await readPayloads(ctx.app.pool, ids)).map((row) => [row.id, row.payload]))
  })
}
