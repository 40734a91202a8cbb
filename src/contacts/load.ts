// Reads single contacts that rows of other domains name, all of a request in one statement (batching).
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import type { Contact } from '../generated/prisma/client.ts'

/** The contact with this id; null if it was deleted. The caller knows that the id is of the workspace. */
export function loadContact(ctx: Context, id: string): Promise<Contact | null> {
  return load(ctx, 'contacts', id, async (ids) => {
    const rows = await ctx.app.db.contact.findMany({ where: { id: { in: [...ids] } } })
    const byId = new Map(rows.map((row) => [row.id, row]))
    return ids.map((one) => byId.get(one) ?? null)
  })
}
