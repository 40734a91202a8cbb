// The event log by pages: the Relay connection of a workspace's events, by number.
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { extentOf, type Page, type PageArgs, pageOf } from '../../core/graph/pagination.ts'
import type { EventModel } from '../../generated/prisma/models.ts'
import type { EventType } from './emit.ts'
import { cursorOf, endOf, numberBefore, resumeAfter } from './place.ts'

/**
 * Forward from `after` (`first`), or back from `before` (`last`); in order either way. An empty page ends where the log did when it
 * was read, so that also whoever has seen no event yet can follow from there and miss none.
 * @throws VALIDATION_ERROR naming the argument.
 */
export async function readEventPage(
  args: PageArgs & { types?: readonly EventType[] | null },
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Page<EventModel>> {
  const { app, principal } = context
  const extent = extentOf(args)
  if (args.types?.length === 0) fail('VALIDATION_ERROR', 'types: must have at least 1 item')
  const { workspaceId } = principal
  const gt = args.after ? await resumeAfter(app, workspaceId, args.after, 'after') : undefined
  const lt = args.before ? await numberBefore(app, workspaceId, args.before, 'before') : undefined
  // Before the page: an event that is not in it comes after this number.
  const end = args.before ? undefined : await endOf(app, workspaceId)
  const rows = await app.db.event.findMany({
    ...queryFromInfo({ context, info, paths: [['edges', 'node'], ['nodes']] }),
    where: { workspaceId, seq: { gt, lt }, type: args.types ? { in: [...args.types] } : undefined },
    orderBy: { seq: extent.backward ? 'desc' : 'asc' },
    take: extent.size + 1,
  })
  const page = pageOf(args, extent, rows, (row) => cursorOf(app, row))
  if (rows.length > 0 || end === undefined) return page
  return { ...page, pageInfo: { ...page.pageInfo, endCursor: end.cursor } }
}
