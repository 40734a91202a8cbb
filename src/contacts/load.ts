// Reads single contacts that rows of other domains name by id or number, all of a request in one statement (batching).
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

/** The contact of the workspace with this number; null if there is none. */
export function contactOfPhone(ctx: Context, phone: string): Promise<Contact | null> {
  return load(ctx, 'contacts by number', phone, async (phones) => {
    const where = { workspaceId: ctx.principal.workspaceId, phone: { in: [...phones] } }
    const byPhone = new Map((await ctx.app.db.contact.findMany({ where })).map((row) => [row.phone, row]))
    return phones.map((one) => byPhone.get(one) ?? null)
  })
}
