// Reads one page of the event log: a Relay connection of a workspace's events (keyset pagination by event number).
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { extentOf, type Page, type PageArgs, pageOf } from '../../core/graph/pagination.ts'
import type { EventModel } from '../../generated/prisma/models.ts'
import { eventTypes } from './event-type.ts'
import { cursorOf, endOf, numberBefore, resumeAfter } from './place.ts'

/**
 * Reads forward from `after` (`first`) or backward from `before` (`last`). The rows are in ascending order either way. An empty page
 * without `before` has the end of the log, as it was at the read, as its `endCursor`. A client that has seen no event can follow from
 * there without missing one.
 * @throws VALIDATION_ERROR when an argument is invalid; the message names it.
 */
export async function readEventPage(
  args: PageArgs & { types?: readonly string[] | null },
  context: Context,
  info: GraphQLResolveInfo,
): Promise<Page<EventModel>> {
  const { app, principal } = context
  const extent = extentOf(args)
  if (args.types?.length === 0) fail('VALIDATION_ERROR', 'types: must have at least 1 item')
  const { workspaceId } = principal
  const gt = args.after ? await resumeAfter(app, workspaceId, args.after, 'after') : undefined
  const lt = args.before ? await numberBefore(app, workspaceId, args.before, 'before') : undefined
  // Read before the page, so that a matching event missing from the page has a higher number.
  const end = args.before ? undefined : await endOf(app, workspaceId)
  const rows = await app.db.event.findMany({
    ...queryFromInfo({ context, info, paths: [['edges', 'node'], ['nodes']] }),
    where: { workspaceId, seq: { gt, lt }, type: { in: [...(args.types ?? eventTypes())] } },
    orderBy: { seq: extent.backward ? 'desc' : 'asc' },
    take: extent.size + 1,
  })
  const page = pageOf(args, extent, rows, (row) => cursorOf(app, row))
  if (rows.length > 0 || end === undefined) return page
  const { hasNextPage, hasPreviousPage } = page.pageInfo
  return { ...page, pageInfo: { hasNextPage, hasPreviousPage, startCursor: null, endCursor: end.cursor } }
}
