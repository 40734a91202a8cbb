// Reading deliveries for the graph: any number of endpoints' first pages in one statement.
import DataLoader from 'dataloader'
import type { Context } from '../core/context.ts'
import { type Page, type PageArgs, readPage } from '../core/pagination.ts'
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
    find: ({ where, orderBy, take }) => {
      if (!args.after && !args.before) return firstRows(ctx, status, take, args.last != null).load(endpointId)
      return ctx.app.db.webhookDelivery.findMany({
        where: { endpointId, ...(status ? { status } : {}), ...where },
        orderBy,
        take,
      })
    },
  })
}

type RowLoader = DataLoader<string, WebhookDelivery[]>

const rowLoaders = new WeakMap<Context, Map<string, RowLoader>>()

/** One statement for all endpoints that one request asks the same of. */
function firstRows(ctx: Context, status: string | null, take: number, oldest: boolean): RowLoader {
  const loaders = rowLoaders.get(ctx) ?? new Map<string, RowLoader>()
  rowLoaders.set(ctx, loaders)
  const name = `${status} ${take} ${oldest}`
  const known = loaders.get(name)
  if (known) return known
  const order = oldest ? 'asc' : 'desc'
  const loader: RowLoader = new DataLoader(async (endpointIds) => {
    const { rows } = await ctx.app.pool.query<WebhookDelivery>(
      `select d.* from unnest($1::uuid[]) as e(id) cross join lateral (
         select * from webhook_deliveries where "endpointId" = e.id and ($2::text is null or status::text = $2)
         order by "createdAt" ${order}, id ${order} limit $3
       ) d order by d."createdAt" ${order}, d.id ${order}`,
      [endpointIds, status, take],
    )
    const byEndpoint = Map.groupBy(rows, (row) => row.endpointId)
    return endpointIds.map((id) => byEndpoint.get(id) ?? [])
  })
  loaders.set(name, loader)
  return loader
}

const payloadLoaders = new WeakMap<Context, DataLoader<string, unknown>>()

/** The very object that was, or is to be, delivered. */
export async function payloadOf(ctx: Context, deliveryId: string): Promise<unknown> {
  let loader = payloadLoaders.get(ctx)
  if (!loader) {
    loader = new DataLoader(async (ids) => {
      const { rows } = await ctx.app.pool.query<{ id: string; payload: unknown }>(
        `select d.id, coalesce(d.payload, v.payload) as payload from webhook_deliveries d left join events v on v.seq = d."eventSeq"
         where d.id = any($1::uuid[])`,
        [ids],
      )
      const byId = new Map(rows.map((row) => [row.id, row.payload]))
      return ids.map((id) => byId.get(id) ?? null)
    })
    payloadLoaders.set(ctx, loader)
  }
  return await loader.load(deliveryId)
}
