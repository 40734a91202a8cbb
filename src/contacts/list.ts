// Reading contacts: pages of a workspace's, in any order and by any filter, none of which counts them.
import type { Context } from '../core/context.ts'
import { keyset, type Page, type PageArgs, readPage } from '../core/pagination.ts'
import type { Contact } from '../generated/prisma/client.ts'
import type { ContactFilterValue } from './input.ts'
import { contactColumns } from './service.ts'

export const sorts = {
  createdAt_desc: { field: 'createdAt', direction: 'desc' },
  createdAt_asc: { field: 'createdAt', direction: 'asc' },
  name_asc: { field: 'name', direction: 'asc' },
  name_desc: { field: 'name', direction: 'desc' },
} as const

export type ContactSort = keyof typeof sorts

/** A page of the workspace's contacts; 50 unless asked otherwise. */
export async function pageOfContacts(
  ctx: Context,
  filter: ContactFilterValue,
  sort: ContactSort,
  args: PageArgs,
): Promise<Page<Contact>> {
  const { workspaceId } = ctx.principal
  const { field, direction } = sorts[sort]
  return await readPage<Contact>({
    args,
    binding: ['contacts', workspaceId, filter.search ?? null, filter.tag ?? null, filter.groupId ?? null, sort],
    field,
    direction,
    defaultSize: 50,
    find: async ({ take }, place) => {
      const values: unknown[] = [workspaceId]
      const conditions = [
        'c."workspaceId" = $1',
        ...conditionsOf(filter, values),
        ...keyset(place, `c."${field}"`, 'c.id', values),
      ]
      const { rows } = await ctx.app.pool.query<Contact>(
        `select ${contactColumns} from contacts c where ${conditions.join(' and ')}
         order by c."${field}" ${place.order}, c.id ${place.order} limit $${values.push(take)}`,
        values,
      )
      return rows
    },
  })
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
 * That a contact has `search` in its name, number or (`all`) e-mail address. The column "searchText" has the three in this
 * order, folded, a line each: what is followed by one more line is not in the e-mail address.
 */
export function matching(search: string, where: 'all' | 'nameOrPhone', values: unknown[]): string {
  const literal = search.replace(/[\\%_]/g, '\\$&')
  const n = values.push(where === 'all' ? `%${literal}%` : `%${literal}%\n%`)
  return `c."searchText" like lower(upper($${n}))`
}
