// Lists messages by their time: of a workspace, with one number, of a campaign, about a contact.
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { readList } from '../core/graph/list.ts'
import type { Page, PageArgs } from '../core/graph/pagination.ts'
import { tableOf } from '../core/graph/table.ts'
import type { Message, Prisma } from '../generated/prisma/client.ts'

export const messageTable = tableOf('Message', 'messages', {
  instance: tableOf('Instance', 'instances'),
  contact: tableOf('Contact', 'contacts'),
})

export interface MessageFilter {
  /** Columns that must equal a value. */
  equal: Readonly<Partial<Record<keyof Message, string>>>
  createdFrom?: Date
  createdTo?: Date
}

/** Columns whose index has the messages of a parent in the order of their time; the first that a filter names is used. */
const parents = ['reference', 'campaignId', 'contactId', 'workspaceId'] as const

/** Reads a page of the workspace's messages by `createdAt`. `totalCount` runs its query only when called. */
export async function listMessages(
  ctx: Context,
  info: GraphQLResolveInfo,
  args: PageArgs,
  { equal, createdFrom, createdTo }: MessageFilter,
  direction: 'asc' | 'desc',
): Promise<Page<Message> & { totalCount: () => Promise<number> }> {
  const { workspaceId } = ctx.principal
  const createdAt = { ...(createdFrom && { gte: createdFrom }), ...(createdTo && { lt: createdTo }) }
  const where = { workspaceId, ...equal, ...((createdFrom || createdTo) && { createdAt }) } as Prisma.MessageWhereInput
  const equals = { workspaceId, ...equal }
  const parent = parents.find((column) => equals[column]) as (typeof parents)[number]
  const others = Object.entries(equals).filter(([column]) => column !== parent)
  const page = await readList<Message>(ctx, info, args, {
    table: messageTable,
    of: [parent, equals[parent] as string],
    conditions: [
      ...others.map(([column, value]) => [column, '=', value] as const),
      ...(createdFrom ? [['createdAt', '>=', createdFrom] as const] : []),
      ...(createdTo ? [['createdAt', '<', createdTo] as const] : []),
    ],
    binding: ['messages', where, direction],
    direction,
    isShort: others.every(([column]) => column === 'workspaceId' || column === 'peer'),
  })
  return { ...page, totalCount: () => ctx.app.db.message.count({ where }) }
}
