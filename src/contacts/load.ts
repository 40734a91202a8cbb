// Reads single contacts that rows of other domains name by id or number, all of a request in one statement (batching).
import type { Context } from '../core/context.ts'
import { loadFound } from '../core/graph/load.ts'
import type { Contact } from '../generated/prisma/client.ts'

/** The contact with this id; null if it was deleted. The caller knows that the id is of the workspace. */
export function loadContact(ctx: Context, id: string): Promise<Contact | null> {
  return loadFound(ctx, 'contacts', id, null, async (ids) => {
    const rows = await ctx.app.db.contact.findMany({ where: { id: { in: [...ids] } } })
    return new Map(rows.map((row) => [row.id, row]))
  })
}

/** The contact of the workspace with this number; null if there is none. */
export function contactOfPhone(ctx: Context, phone: string): Promise<Contact | null> {
  return loadFound(ctx, 'contacts by number', phone, null, async (phones) => {
    const where = { workspaceId: ctx.principal.workspaceId, phone: { in: [...phones] } }
    return new Map((await ctx.app.db.contact.findMany({ where })).map((row) => [row.phone, row]))
  })
}
