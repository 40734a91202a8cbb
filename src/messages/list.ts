// Lists messages by their time: of a workspace, with one number, of a campaign, about a contact.
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { type Condition, countRows, type Subset } from '../core/graph/list.sql.ts'
import { readList } from '../core/graph/list.ts'
import type { Page, PageArgs } from '../core/graph/pagination.ts'
import { tableOf } from '../core/graph/table.ts'
import type { Message } from '../generated/prisma/client.ts'

export const messageTable = tableOf('Message', 'messages', {
  instance: tableOf('Instance', 'instances'),
  contact: tableOf('Contact', 'contacts'),
})

export interface MessageFilter {
  /** Columns that must equal a value. */
  equal: Readonly<Partial<Record<keyof Message, string>>>
  others?: readonly Condition[]
  /** The filter as the caller gave it, which a cursor is bound to. By default {@link equal}. */
  binding?: unknown
  part?: MessagePart | undefined
}

/**
 * The only messages that a filter can fit, which have indexes of their own: those that failed or were cancelled (`messages_failed_idx`), are on
 * their way (`messages_open_idx`, `messages_unreported_idx`), or came in (`messages_received_idx`).
 */
export type MessagePart = 'failed' | 'open' | 'received'

const failed = `t.status in ('failed', 'cancelled')`
const received = `t.direction = 'inbound'`
const outbound = `t.direction = 'outbound' and t.status`
const subsets = {
  open: [
    `${outbound} in ('queued', 'sending') and t."acceptedAt" is null`,
    `${outbound} = 'sending' and t."acceptedAt" is not null`,
  ],
  received: [received],
  // The number of an outbound message is that of the other party, for which there is an index.
  to: [`t.direction = 'outbound' and t.peer = t."to"`, received],
} as const

/**
 * Columns whose index has the messages of a parent in the order of their time; the first that a filter names is used. Messages from or to one
 * number have such indexes below the workspace.
 */
function parentOf(equals: MessageFilter['equal']): 'reference' | 'campaignId' | 'contactId' | 'instanceId' | 'workspaceId' {
  const own = (['reference', 'campaignId', 'contactId'] as const).find((column) => equals[column])
  return own ?? (equals.instanceId && !equals.peer && !equals.to ? 'instanceId' : 'workspaceId')
}

/** The tables of the parents that belong to one workspace. The index of references begins with the reference and the workspace. */
const owners: Partial<Record<string, string>> = { campaignId: 'campaigns', contactId: 'contacts', instanceId: 'instances' }

/**
 * Reads a page of the workspace's messages by `createdAt`. `totalCount` runs its query only when called, and is missing where it would read
 * every text.
 */
export async function listMessages(
  ctx: Context,
  info: GraphQLResolveInfo,
  args: PageArgs,
  { equal, others = [], binding = equal, part }: MessageFilter,
  direction: 'asc' | 'desc',
): Promise<Page<Message> & { totalCount?: () => Promise<number> }> {
  const { workspaceId } = ctx.principal
  const equals = { workspaceId, ...equal }
  const ofFailed = part === 'failed' && parentOf(equals) === 'instanceId'
  const parent = ofFailed ? 'workspaceId' : parentOf(equals)
  const indexed = (parent === 'workspaceId' || parent === 'instanceId') && !equals.peer ? (equals.to ? 'to' : part) : undefined
  const owner = owners[parent]
  const further = Object.entries(equals).filter(([column]) => column !== parent && !(owner && column === 'workspaceId'))
  const conditions = [...further.map(([column, value]) => [column, '=', value] as const), ...others]
  const list = {
    table: messageTable,
    of: [parent, equals[parent] as string],
    conditions,
    within: owner ? { table: owner, workspaceId } : undefined,
    partial: indexed === 'failed' ? failed : indexed === 'received' && parent === 'instanceId' ? received : undefined,
    subset: subsetOf(indexed, parent),
  } as const
  const page = await readList<Message>(ctx, info, args, {
    ...list,
    binding: ['messages', workspaceId, binding, direction],
    direction,
    isShort: conditions.every(([column]) => column === 'workspaceId' || column === 'peer' || column === 'createdAt'),
  })
  if (conditions.some(([, operator]) => operator === 'contains')) return page
  return { ...page, totalCount: () => countRows(ctx.app, list) }
}

/** Messages of an instance that came in are in page order in their index, which therefore needs no other way to read them. */
function subsetOf(part: keyof typeof subsets | 'failed' | undefined, parent: string): Subset | undefined {
  if (!part || part === 'failed' || (part === 'received' && parent === 'instanceId')) return undefined
  if (part === 'to') return { of: 'workspaces', column: 'workspaceId', parts: subsets.to, isOrdered: true }
  return { of: 'instances', column: 'instanceId', parts: subsets[part] }
}
