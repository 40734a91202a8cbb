// Lists conversations: the numbers that a workspace exchanges messages with, by their latest message. Nothing is stored for them.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { loadFound } from '../core/graph/load.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import type { Message } from '../generated/prisma/client.ts'
import {
  countNext,
  countUnanswered,
  type Latest,
  type LatestQuery,
  readAmongMessages,
  readAmongNumbers,
} from './conversations.sql.ts'
import { loadMessage } from './load.ts'

export interface Conversation extends Latest {
  lastMessage: Message
}

/** How many messages are read in page order, and how many numbers are looked at if these messages do not fill the page. */
interface Step {
  messages: number
  numbers: number
}

/** The most numbers that a backward page looks at. */
export const mostNumbersBackward = 200_000

/**
 * The first way is fast if the next messages belong to many numbers, the second if the workspace has few numbers. Otherwise both limits grow step by
 * step, because a few numbers with very many messages may come before many others. Old messages are rarely the latest of their number, so a page from
 * the end soon looks at all numbers.
 */
const stepsOf: Record<'desc' | 'asc', readonly Step[]> = {
  desc: [2_000, 10_000, 50_000].map((size) => ({ messages: size, numbers: size })),
  asc: [
    { messages: 2_000, numbers: 2_000 },
    { messages: 50_000, numbers: mostNumbersBackward },
  ],
}

/**
 * A page of conversations, latest first.
 * @throws VALIDATION_ERROR when a backward page is not filled by the next messages, and the workspace has too many numbers.
 */
export async function pageOfConversations(
  { app, principal }: Context,
  args: PageArgs,
  steps: Record<'desc' | 'asc', readonly Step[]> = stepsOf,
): Promise<Page<Latest>> {
  const { workspaceId } = principal
  return await readPage<Latest>({
    args,
    binding: ['conversations', workspaceId],
    field: 'createdAt',
    direction: 'desc',
    find: async (take, place) => {
      const query: LatestQuery = { workspaceId, place, take }
      for (const { messages, numbers } of steps[place.order]) {
        const near = await readAmongMessages(app.pool, query, messages)
        if (near.length === take) return near
        // Before a cursor, few messages may be left.
        if (place.order === 'asc' && (await countNext(app.pool, query, messages)) < messages) return near
        const all = await readAmongNumbers(app.pool, query, numbers)
        if (all) return all
      }
      // All messages from the oldest on would be read, for longer than a statement may take.
      if (place.order === 'asc') fail('VALIDATION_ERROR', tooFar)
      return await readAmongMessages(app.pool, query, null)
    },
  })
}

/**
 * Adds the latest messages. A conversation is left out if its message was deleted since the page was read: by an erasure, by retention, or by
 * the pause of a campaign.
 */
export async function withMessages(ctx: Context, { edges, pageInfo }: Page<Latest>): Promise<Page<Conversation>> {
  const found = await Promise.all(
    edges.map(async ({ cursor, node }) => {
      const lastMessage = await loadMessage(ctx, node.id)
      return lastMessage ? [{ cursor, node: { ...node, lastMessage } }] : []
    }),
  )
  return { edges: found.flat(), pageInfo }
}

const tooFar = 'last: the workspace has too many numbers to look for the oldest ones; use first and after'

/** The most messages of a number that are counted. */
export const mostUnread = 100

/** The number of messages received after the last answer, up to {@link mostUnread}. */
export async function unreadCount(ctx: Context, peer: string): Promise<number> {
  const { app, principal } = ctx
  return await loadFound(ctx, 'conversation.unread', peer, 0, (peers) =>
    countUnanswered(app.pool, principal.workspaceId, peers, mostUnread),
  )
}
