// Reads single messages that rows of other domains name, all of a request in one statement (batching).
import type { Context } from '../core/context.ts'
import { loadFound } from '../core/graph/load.ts'
import type { Message } from '../generated/prisma/client.ts'

/** The message with this id; null if it was deleted. The caller knows that the id is of the workspace. */
export function loadMessage(ctx: Context, id: string): Promise<Message | null> {
  return loadFound(ctx, 'messages', id, null, async (ids) => {
    const rows = await ctx.app.db.message.findMany({ where: { id: { in: [...ids] } } })
    return new Map(rows.map((row) => [row.id, row]))
  })
}
