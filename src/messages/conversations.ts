// Lists conversations: the numbers that a workspace exchanges messages with, by their latest message. Nothing is stored for them.
import type { Context } from '../core/context.ts'
import { load } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import { countUnanswered, type Latest, type LatestQuery, readAmongMessages, readAmongNumbers } from './conversations.sql.ts'

/**
 * Messages that are read in page order before a second statement looks at the numbers instead. The first way is fast if the latest
 * messages belong to many numbers, the second if the workspace has few numbers.
 */
const windowSize = 2_000
const fewNumbers = 2_000

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
      const near = await readAmongMessages(app.pool, query, windowSize)
      if (near.length === take) return near
      return (await readAmongNumbers(app.pool, query, fewNumbers)) ?? (await readAmongMessages(app.pool, query, null))
    },
  })
}

/** The most messages of a number that are counted. */
export const mostUnread = 100

/** The number of messages received after the last answer, up to {@link mostUnread}. */
export async function unreadCount(ctx: Context, peer: string): Promise<number> {
  return await load(ctx, 'conversation.unread', peer, async (peers) => {
    const counts = await countUnanswered(ctx.app.pool, ctx.principal.workspaceId, peers, mostUnread)
    return peers.map((one) => counts.get(one) ?? 0)
  })
}
