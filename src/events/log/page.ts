// Reads one page of the event log: a Relay connection of a workspace's events (keyset pagination by event number).
import { queryFromInfo } from '@pothos/plugin-prisma'
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../core/context.ts'
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { extentOf, type Page, type PageArgs, pageOf } from '../../core/graph/pagination.ts'
import type { EventModel } from '../../generated/prisma/models.ts'
import { eventTypes } from './event-type.ts'
import type { EventFilter, LogRange } from './log.ts'
import { type Found, findEvents, type Position } from './page.sql.ts'
import { cursorNow, cursorOf, numberBefore, resumeAfter } from './place.ts'

/** Statements that look for the events of one page, at most. */
const maxWindows = 5

/**
 * Reads forward from `after` (`first`) or backward from `before` (`last`). The rows are in ascending order either way. A page looks at
 * a bounded part of the log. If it ends before the page is full, the page has the place reached as its cursor, and another one follows.
 * An empty page without `before` has the end of the log, as it was at the read, as its `endCursor`. A client that has seen no event can
 * follow from there without missing one.
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
  const after = args.after ? (await resumeAfter(app, workspaceId, args.after, 'after')).seq : 0n
  const before = args.before ? await numberBefore(app, workspaceId, args.before, 'before') : undefined
  const filter = { types: args.types ?? eventTypes() }
  const order = extent.backward ? 'desc' : 'asc'
  const { events, stop, own } = await findPage(app.pool, workspaceId, filter, {
    after,
    ...(before !== undefined && { upTo: before - 1n }),
    limit: extent.size + 1,
    order,
  })
  const shown = events.slice(0, extent.size)
  const rows =
    shown.length === 0
      ? []
      : await app.db.event.findMany({
          ...queryFromInfo({ context, info, paths: [['edges', 'node'], ['nodes']] }),
          where: { workspaceId, seq: { in: shown.map(({ seq }) => seq) } },
          orderBy: { seq: order },
        })
  const { edges } = pageOf(args, extent, rows, (row) => cursorOf(app, row))
  const isMore = stop !== null || events.length > shown.length
  const cursorAt = (place: Position | undefined) => (place ? cursorOf(app, { workspaceId, ...place }) : null)
  const near = cursorAt(shown[0])
  const far = cursorAt(stop ?? shown.at(-1))
  const end = args.before ? null : cursorNow(app, workspaceId, own)
  return {
    edges,
    pageInfo: extent.backward
      ? { hasNextPage: Boolean(args.before), hasPreviousPage: isMore, startCursor: far, endCursor: near ?? end }
      : { hasNextPage: isMore, hasPreviousPage: Boolean(args.after), startCursor: near, endCursor: far ?? end },
  }
}

/** Finds the events of a page, in the order of the range. `stop` is the place reached when the search ended before the page was full. */
async function findPage(sql: Sql, workspaceId: string, filter: EventFilter, range: LogRange): Promise<Found> {
  const found = await findEvents(sql, workspaceId, filter, range)
  for (let windows = 1; found.stop && windows < maxWindows; windows++) {
    const { seq } = found.stop
    const rest = range.order === 'desc' ? { ...range, upTo: seq - 1n } : { ...range, after: seq }
    const next = await findEvents(sql, workspaceId, filter, { ...rest, limit: range.limit - found.events.length })
    found.events.push(...next.events)
    found.stop = next.stop
  }
  return found
}
