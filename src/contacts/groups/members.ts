// Reads group membership: the members of any number of groups, or the groups of contacts, in one query (batching).
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../core/context.ts'
import { load, loadFound } from '../../core/graph/load.ts'
import { extentOf, type Page, type PageArgs, readPage } from '../../core/graph/pagination.ts'
import { columnsOf } from '../../core/graph/selection.ts'
import { parse } from '../../core/validation.ts'
import type { ContactGroup } from '../../generated/prisma/client.ts'
import { search as searchTerm } from '../input.ts'
import { contactTable, windowSize } from '../list.ts'
import { countMembers, type Member, type MemberQuery, readGroupsOf, readMembers } from './members.sql.ts'

/** A page of a group's members, newest members first. */
export async function pageOfMembers(
  ctx: Context,
  info: GraphQLResolveInfo,
  group: Pick<ContactGroup, 'id' | 'membersCount'>,
  args: PageArgs & { search?: string | null },
): Promise<Page<Member> & { totalCount: () => number | Promise<number> }> {
  const search = args.search == null ? null : parse(searchTerm, args.search, 'search')
  const columns = columnsOf(info, contactTable, ['id'], 'c')
  const page = await readPage<Member>({
    args,
    binding: ['members', group.id, search],
    field: 'addedAt',
    direction: 'desc',
    find: (take, place) => {
      const query = { search, columns, place, take }
      return load(ctx, `members ${JSON.stringify(query)}`, group.id, (ids) => findMembers(ctx, ids, query))
    },
  })
  const { hasNextPage, hasPreviousPage } = page.pageInfo
  const isAll = args.after == null && args.before == null && !hasNextPage && !hasPreviousPage
  const totalCount = () => {
    if (search === null) return group.membersCount
    if (isAll) return page.edges.length
    return loadFound(ctx, `members' count ${search}`, group.id, 0, (ids) => countMembers(ctx.app.pool, ids, search))
  }
  return { ...page, totalCount }
}

/** With a search, it takes two queries, as for contacts. The second is for the groups in which the first found too few. */
async function findMembers({ app }: Context, groupIds: readonly string[], query: MemberQuery): Promise<Member[][]> {
  const near = await readMembers(app.pool, groupIds, query, query.search === null ? query.take : windowSize)
  const few = query.search === null ? [] : groupIds.filter((id) => near.get(id)?.length !== query.take)
  const all = few.length === 0 ? near : await readMembers(app.pool, few, query, null)
  return groupIds.map((id) => all.get(id) ?? near.get(id) ?? [])
}

/**
 * The groups of a contact, by name: all, or the `first` of those with a name after `after`.
 * @throws VALIDATION_ERROR when `first` is out of range.
 */
export async function groupsOf(
  ctx: Context,
  contactId: string,
  { first, after = null }: Pick<PageArgs, 'first' | 'after'>,
): Promise<ContactGroup[]> {
  const limit = first == null ? 'all' : extentOf({ first }).size
  const name = `groups of contacts ${limit} ${JSON.stringify(after)}`
  return await loadFound(ctx, name, contactId, [], (ids) => readGroupsOf(ctx.app.pool, ids, after, limit))
}
