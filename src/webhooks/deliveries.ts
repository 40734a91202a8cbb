// Reads deliveries for GraphQL: the first pages of any number of endpoints in one statement (batching).
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import type { DeliveryStatus, WebhookDelivery } from '../generated/prisma/client.ts'
import { readFirst, readPayloads } from './deliveries.sql.ts'

/** A page of an endpoint's deliveries, newest first. */
export async function pageOfDeliveries(
  ctx: Context,
  endpointId: string,
  args: PageArgs & { status?: DeliveryStatus | null },
): Promise<Page<WebhookDelivery>> {
  const status = args.status ?? null
  return await readPage<WebhookDelivery>({
    args,
    binding: ['deliveries', endpointId, status],
    field: 'createdAt',
    direction: 'desc',
    find: ({ where, orderBy, take }, { order }) => {
      if (!args.after && !args.before) {
        return load(ctx, `deliveries ${status} ${take} ${order}`, endpointId, (ids) => firstRows(ctx, ids, status, take, order))
      }
      return ctx.app.db.webhookDelivery.findMany({
        where: { endpointId, ...(status ? { status } : {}), ...where },
        orderBy,
        take,
      })
    },
  })
}

async function firstRows(
  ctx: Context,
  endpointIds: readonly string[],
  status: DeliveryStatus | null,
  take: number,
  order: 'asc' | 'desc',
): Promise<WebhookDelivery[][]> {
  const rows = await readFirst(ctx.app.pool, endpointIds, { status, take, order })
  const byEndpoint = Map.groupBy(rows, (row) => row.endpointId)
  return endpointIds.map((id) => byEndpoint.get(id) ?? [])
}

/** The exact object that was or will be delivered. */
export async function payloadOf(ctx: Context, deliveryId: string): Promise<unknown> {
  return await load(ctx, 'payloads of deliveries', deliveryId, async (ids) => {
    const rows = await readPayloads(ctx.app.pool, ids)
    const byId = new Map(rows.map((row) => [row.id, row.payload]))
    return ids.map((id) => byId.get(id) ?? null)
  })
}
