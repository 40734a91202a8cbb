// The event log by pages: the Relay connection of a workspace's events, by number.
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { checkSize, type PageArgs } from '../core/pagination.ts'
import type { EventModel } from '../generated/prisma/models.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'
import type { EventType } from './emit.ts'
import { resumeAfter } from './log.ts'

export interface EventPage {
  edges: { cursor: string; node: EventModel }[]
  pageInfo: { hasNextPage: boolean; hasPreviousPage: boolean; startCursor: string | null; endCursor: string | null }
}

/** Forward from `after` (`first`), or back from `before` (`last`); in order either way. @throws VALIDATION_ERROR naming the argument. */
export async function readEventPage(
  args: PageArgs & { types?: readonly EventType[] | null },
  context: Context,
  info: GraphQLResolveInfo,
): Promise<EventPage> {
  const { app, principal } = context
  if (args.first != null && args.last != null) fail('VALIDATION_ERROR', 'last: cannot be given together with first')
  if (args.types?.length === 0) fail('VALIDATION_ERROR', 'types: must have at least 1 item')
  const backward = args.last != null
  const size = checkSize(backward ? 'last' : 'first', args.first ?? args.last ?? 20)
  const gt = args.after ? await resumeAfter(app, args.after, 'after') : undefined
  const lt = args.before ? decodeCursor(args.before, 'before') : undefined
  const rows = await app.db.event.findMany({
    ...queryFromInfo({ context, info, paths: [['edges', 'node'], ['nodes']] }),
    where: { workspaceId: principal.workspaceId, seq: { gt, lt }, type: args.types ? { in: [...args.types] } : undefined },
    orderBy: { seq: backward ? 'desc' : 'asc' },
    take: size + 1,
  })
  const more = rows.length > size
  const page = rows.slice(0, size)
  if (backward) page.reverse()
  const edges = page.map((node) => ({ cursor: encodeCursor(node.seq), node }))
  return {
    edges,
    pageInfo: {
      hasNextPage: backward ? Boolean(args.before) : more,
      hasPreviousPage: backward ? more : Boolean(args.after),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
  }
}
