// Reads the payloads of deliveries.
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import { readPayloads } from './deliveries.sql.ts'

/** The exact object that was or will be delivered. */
export async function payloadOf(ctx: Context, deliveryId: string): Promise<unknown> {
  return await load(ctx, 'payloads of deliveries', deliveryId, async (ids) => {
    const rows = await readPayloads(ctx.app.pool, ids)
    const byId = new Map(rows.map((row) => [row.id, row.payload]))
    return ids.map((id) => byId.get(id) ?? null)
  })
}
