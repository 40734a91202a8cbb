// Reads group membership: the members of any number of groups, or the groups of contacts, in one query (batching).
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../../core/context.ts'
import { load } from '../../core/graph/load.ts'
import { extentOf, keyset, type Page, type PageArgs, type Place, readPage } from '../../core/graph/pagination.ts'
import { pageColumns } from '../../core/graph/select.ts'
import { parse } from '../../core/validation.ts'
import type { Contact, ContactGroup } from '../../generated/prisma/client.ts'
import { search as searchTerm } from '../input.ts'
import { matching, windowSize } from '../list.ts'
import { contactTable } from '../service.ts'

export type Member = Contact & { addedAt: Date }

interface Asked {
  search: string | null
  /** SQL list of columns of the contact `c`. */
  columns: string
  place: Place
  take: number
}

/** A page of a group's members, newest members first. */
export async function pageOfMembers(
  ctx: Context,
  info: GraphQLResolveInfo,
  group: Pick<ContactGroup, 'id' | 'membersCount'>,
  args: PageArgs & { search?: string | null },
): Promise<Page<Member> & { totalCount: () => number | Promise<number> }> {
  const search = args.search == null ? null : parse(searchTerm, args.search, 'search')
  const columns = pageColumns(info, contactTable, ['id'], 'c')
  const page = await readPage<Member>({
    args,
    binding: ['members', group.id, search],
    field: 'addedAt',
    direction: 'desc',
    find: ({ take }, place) => {
      const asked = { search, columns, place, take }
      return load(ctx, `members ${JSON.stringify(asked)}`, group.id, (ids) => findMembers(ctx, ids, asked))
    },
  })
  const { hasNextPage, hasPreviousPage } = page.pageInfo
  const isAll = args.after == null && args.before == null && !hasNextPage && !hasPreviousPage
  const totalCount = () => {
    if (search === null) return group.membersCount
    if (isAll) return page.edges.length
    return load(ctx, `members' count ${search}`, group.id, (ids) => countMembers(ctx, ids, search))
  }
  return { ...page, totalCount }
}

/** With a search, it takes two queries, as for contacts. The second is for the groups in which the first found too few. */
async function findMembers(ctx: Context, groupIds: readonly string[], asked: Asked): Promise<Member[][]> {
  const near = await readMembers(ctx, groupIds, asked, asked.search === null ? asked.take : windowSize)
  const few = asked.search === null ? [] : groupIds.filter((id) => near.get(id)?.length !== asked.take)
  const all = few.length === 0 ? near : await readMembers(ctx, few, asked, null)
  return groupIds.map((id) => all.get(id) ?? near.get(id) ?? [])
}

/** The matching members among the first `window` of each group from the position on, or among all if `window` is null. */
async function readMembers(
  ctx: Context,
  groupIds: readonly string[],
  { search, columns, place, take }: Asked,
  window: number | null,
): Promise<Map<string, Member[]>> {
  const values: unknown[] = [...groupIds]
  const order = `order by "addedAt" ${place.order}, "contactId" ${place.order}`
  const here = ['m."groupId" = g.id', ...keyset(place, 'm."addedAt"', 'm."contactId"', values)].join(' and ')
  const match = search === null ? 'true' : matching(search, 'nameOrPhone', values)
  const { rows } = await ctx.app.pool.query<Member & { groupId: string }>(
    `select r.* from ${listOf(groupIds)} as g(id) cross join lateral (
       select f.* from (
         select m.*, ${columns} from (
           select * from contact_group_members m where ${here} ${window ? `${order} limit ${window}` : ''}
         ) m join contacts c on c.id = m."contactId" where ${match} offset 0
       ) f ${order} limit ${take}
     ) r ${order}`,
    values,
  )
  return Map.groupBy(rows, (row) => row.groupId)
}

async function countMembers(ctx: Context, groupIds: readonly string[], search: string): Promise<number[]> {
  const values: unknown[] = [...groupIds]
  const { rows } = await ctx.app.pool.query<{ id: string; n: number }>(
    `select g.id, r.n from ${listOf(groupIds)} as g(id) cross join lateral (
       select count(*)::int as n from contact_group_members m join contacts c on c.id = m."contactId"
       where m."groupId" = g.id and ${matching(search, 'nameOrPhone', values)}
     ) r`,
    values,
  )
  const counts = new Map(rows.map(({ id, n }) => [id, n]))
  return groupIds.map((id) => counts.get(id) ?? 0)
}

/** A VALUES list instead of an array: for a single group, the usual case, PostgreSQL plans with the statistics of that group. */
function listOf(ids: readonly string[]): string {
  return `(values ${ids.map((_, i) => `($${i + 1}::uuid)`).join(', ')})`
}

/**
 * The groups of a contact, by name: all, or the `first` of those with a name after `after`.
 * @throws VALIDATION_ERROR when `first` is out of range.
 */
export async function groupsOf(
  ctx: Context,
  contactId: string,
  { first, after }: Pick<PageArgs, 'first' | 'after'>,
): Promise<ContactGroup[]> {
  const limit = first == null ? 'all' : extentOf({ first }).size
  return await load(ctx, `groups of contacts ${limit} ${JSON.stringify(after ?? null)}`, contactId, async (ids) => {
    const { rows } = await ctx.app.pool.query<ContactGroup & { contactId: string }>(
      `select c.id as "contactId", g.* from unnest($1::uuid[]) as c(id) cross join lateral (
         select g.* from contact_group_members m join contact_groups g on g.id = m."groupId"
         where m."contactId" = c.id and ($2::text is null or g.name > $2) order by g.name limit ${limit}
       ) g order by g.name`,
      [ids, after ?? null],
    )
    const byContact = Map.groupBy(rows, (row) => row.contactId)
    return ids.map((id) => byContact.get(id) ?? [])
  })
}
