// Reads contacts: pages of a workspace's contacts, in any order and by any filter, without counting them (keyset pagination).
import type { GraphQLResolveInfo } from 'graphql'
import type { Context } from '../core/context.ts'
import { keyset, type Page, type PageArgs, type Place, readPage } from '../core/graph/pagination.ts'
import { pageColumns } from '../core/graph/select.ts'
import type { Contact } from '../generated/prisma/client.ts'
import type { ContactFilterValue } from './input.ts'
import { contactTable } from './service.ts'

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
  const columns = pageColumns(info, contactTable, ['id', field], 'c')
  return await readPage<Contact>({
    args,
    binding: ['contacts', ctx.principal.workspaceId, filter.search ?? null, filter.tag ?? null, filter.groupId ?? null, sort],
    field,
    sortedBy: field === 'name' ? 'text' : 'time',
    direction,
    find: ({ take }, place) => findContacts(ctx, { filter, columns, field, place, take }),
  })
}

/**
 * Number of contacts that are read in page order and filtered, before a second query finds all matches and sorts them. The first way is
 * fast if many contacts match. The second is fast if few match, or only those at the far end. By itself, the planner of PostgreSQL
 * guesses which case it is, and a wrong guess costs a scan of everything.
 */
export const windowSize = 1_000

interface Asked {
  filter: ContactFilterValue
  /** SQL list of columns of the alias `c`. */
  columns: string
  field: 'createdAt' | 'name'
  place: Place
  take: number
}

async function findContacts(ctx: Context, asked: Asked): Promise<Contact[]> {
  const isFiltered = Object.values(asked.filter).some((value) => value != null)
  const near = await readContacts(ctx, asked, isFiltered ? windowSize : asked.take)
  return near.length === asked.take || !isFiltered ? near : await readContacts(ctx, asked, null)
}

/** The matching contacts among the first `window` from the position on, or among all if `window` is null. */
async function readContacts(
  ctx: Context,
  { filter, columns, field, place, take }: Asked,
  window: number | null,
): Promise<Contact[]> {
  const values: unknown[] = [ctx.principal.workspaceId]
  const order = `order by c."${field}" ${place.order}, c.id ${place.order}`
  const here = ['c."workspaceId" = $1', ...keyset(place, `c."${field}"`, 'c.id', values)].join(' and ')
  const match = ['true', ...conditionsOf(filter, values)].join(' and ')
  // `offset 0` is an optimization fence: the matches are found before they are sorted.
  const { rows } = await ctx.app.pool.query<Contact>(
    `select ${columns} from (
       select * from (select * from contacts c where ${here} ${window ? `${order} limit ${window}` : ''}) c where ${match} offset 0
     ) c ${order} limit ${take}`,
    values,
  )
  return rows
}

function conditionsOf({ search, tag, groupId }: ContactFilterValue, values: unknown[]): string[] {
  const conditions: string[] = []
  if (search != null) conditions.push(matching(search, 'all', values))
  if (tag != null) conditions.push(`c.tags @> array[$${values.push(tag)}]`)
  if (groupId != null) {
    const n = values.push(groupId)
    conditions.push(`exists (select from contact_group_members m where m."groupId" = $${n} and m."contactId" = c.id)`)
  }
  return conditions
}

/**
 * SQL condition: a contact has `search` in its name, number or (`all`) e-mail address. The column "searchText" holds the three in this
 * order, case-folded, one per line: text with another line after it is not in the e-mail address.
 */
export function matching(search: string, where: 'all' | 'nameOrPhone', values: unknown[]): string {
  const literal = search.replace(/[\\%_]/g, '\\$&')
  const n = values.push(where === 'all' ? `%${literal}%` : `%${literal}%\n%`)
  return `c."searchText" like lower(upper($${n}))`
}
