// Lists conversations: the numbers that a workspace exchanges messages with, by their latest message. Nothing is stored for them.
import type { Context } from '../core/context.ts'
import { loadFound } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import { countUnanswered, type Latest, type LatestQuery, readAmongMessages, readAmongNumbers } from './conversations.sql.ts'

/**
 * Messages that are read in page order, and numbers that are looked at if these messages do not fill the page. The first way is fast if the latest
 * messages belong to many numbers, the second if the workspace has few numbers. Where neither is so, both look at more in turn, because a few
 * numbers with very many messages may come before many others.
 */
const sizes = [2_000, 10_000, 50_000]

/** A page of conversations, latest first. */
export async function pageOfConversations({ app, principal }: Context, args: PageArgs): Promise<Page<Latest>> {
  const { workspaceId } = principal
  return await readPage<Latest>({
    args,
    binding: ['conversations', workspaceId],
    field: 'createdAt',
    direction: 'desc',
    find: async (take, place) => {
      const query: LatestQuery = { workspaceId, place, take }
      for (const size of sizes) {
        const near = await readAmongMessages(app.pool, query, size)
        if (near.length === take) return near
        const all = await readAmongNumbers(app.pool, query, size)
        if (all) return all
      }
      return await readAmongMessages(app.pool, query, null)
    },
  })
}

/** The most messages of a number that are counted. */
export const mostUnread = 100

/** The number of messages received after the last answer, up to {@link mostUnread}. */
export async function unreadCount(ctx: Context, peer: string): Promise<number> {
  const { app, principal } = ctx
  return await loadFound(ctx, 'conversation.unread', peer, 0, (peers) =>
    countUnanswered(app.pool, principal.workspaceId, peers, mostUnread),
  )
}
