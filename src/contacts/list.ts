// Reads contacts: pages of a workspace's contacts, in any order and by any filter, without counting them (keyset pagination).
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { type Page, type PageArgs, readPage } from '../core/graph/pagination.ts'
import { columnsOf } from '../core/graph/selection.ts'
import { tableOf } from '../core/graph/table.ts'
import type { Contact } from '../generated/prisma/client.ts'
import type { ContactFilterValue } from './input.ts'
import { type ContactQuery, readContacts } from './list.sql.ts'

/** Excludes the generated column "searchText", which only PostgreSQL uses. */
export const contactTable = tableOf('Contact', 'contacts')

export const sorts = {
  createdAt_desc: { field: 'createdAt', direction: 'desc' },
  createdAt_asc: { field: 'createdAt', direction: 'asc' },
  name_asc: { field: 'name', direction: 'asc' },
  name_desc: { field: 'name', direction: 'desc' },
} as const

export type ContactSort = keyof typeof sorts

export async function pageOfContacts(
  ctx: Context,
  info: GraphQLResolveInfo,
  filter: ContactFilterValue,
  sort: ContactSort,
  args: PageArgs,
): Promise<Page<Contact>> {
  const { field, direction } = sorts[sort]
  const columns = columnsOf(info, contactTable, ['id', 'name', 'createdAt'], 'c')
  return await readPage<Contact>({
    args,
    binding: ['contacts', ctx.principal.workspaceId, filter.search ?? null, filter.tag ?? null, filter.groupId ?? null, sort],
    field,
    sortedBy: field === 'name' ? 'text' : 'time',
    direction,
    find: (take, place) => findContacts(ctx, { filter, columns, field, place, take }),
  })
}

/**
 * Number of contacts that are read in page order and filtered, before a second query finds all matches and sorts them. The first way is
 * fast if many contacts match. The second is fast if few match, or only those at the far end. By itself, the planner of PostgreSQL
 * guesses which case it is, and a wrong guess costs a scan of everything.
 */
export const windowSize = 1_000

async function findContacts({ app, principal: { workspaceId } }: Context, query: ContactQuery): Promise<Contact[]> {
  const isFiltered = Object.values(query.filter).some((value) => value != null)
  const near = await readContacts(app.pool, workspaceId, query, isFiltered ? windowSize : query.take)
  return near.length === query.take || !isFiltered ? near : await readContacts(app.pool, workspaceId, query, null)
}
