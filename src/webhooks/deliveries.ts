// Reads deliveries for GraphQL: the first pages of any number of endpoints in one statement (batching).
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import type { DeliveryStatus, WebhookDelivery } from '../generated/prisma/client.ts'

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
  const { rows } = await ctx.app.pool.query<WebhookDelivery>(
    `select d.* from unnest($1::uuid[]) as e(id) cross join lateral (
       select * from webhook_deliveries where "endpointId" = e.id and ($2::text is null or status::text = $2)
       order by "createdAt" ${order}, id ${order} limit $3
     ) d order by d."createdAt" ${order}, d.id ${order}`,
    [endpointIds, status, take],
  )
  const byEndpoint = Map.groupBy(rows, (row) => row.endpointId)
  return endpointIds.map((id) => byEndpoint.get(id) ?? [])
}

/** The exact object that was or will be delivered. */
export async function payloadOf(ctx: Context, deliveryId: string): Promise<unknown> {
  return await load(ctx, 'payloads of deliveries', deliveryId, async (ids) => {
    const { rows } = await ctx.app.pool.query<{ id: string; payload: unknown }>(
      `select d.id, coalesce(d.payload, v.payload) as payload from webhook_deliveries d left join events v on v.seq = d."eventSeq"
       where d.id = any($1::uuid[])`,
      [ids],
    )
    const byId = new Map(rows.map((row) => [row.id, row.payload]))
    return ids.map((id) => byId.get(id) ?? null)
  })
}
