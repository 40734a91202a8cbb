// SQL of lists of contacts: a page in any order and by any filter, from a position on.
import type { Sql } from '../core/database/database.ts'
import { literalInLike } from '../core/graph/list.sql.ts'
import { keyset, type Place } from '../core/graph/pagination.ts'
import type { Contact } from '../generated/prisma/client.ts'
import type { ContactFilterValue } from './input.ts'

export interface ContactQuery {
  filter: ContactFilterValue
  /** SQL list of columns of the alias `c`. */
  columns: string
  field: 'createdAt' | 'name'
  place: Place
  take: number
}

/**
 * The matching contacts among the first `window` from the position on, or among all if `window` is null. The window is read by the
 * indexes (workspaceId, createdAt, id) and (workspaceId, name, id).
 */
export async function readContacts(
  sql: Sql,
  workspaceId: string,
  { filter, columns, field, place, take }: ContactQuery,
  window: number | null,
): Promise<Contact[]> {
  const values: unknown[] = [workspaceId]
  const order = `order by c."${field}" ${place.order}, c.id ${place.order}`
  const here = ['c."workspaceId" = $1', ...keyset(place, `c."${field}"`, 'c.id', values)].join(' and ')
  const match = ['true', ...conditionsOf(filter, values, window !== null)].join(' and ')
  // `offset 0` is an optimization fence: the matches are found before they are sorted.
  const { rows } = await sql.query<Contact>(
    `select ${columns} from (
       select * from (select * from contacts c where ${here} ${window ? `${order} limit ${window}` : ''}) c where ${match} offset 0
     ) c ${order} limit ${take}`,
    values,
  )
  return rows
}

/** `perRow`: members of a group are looked up for each contact. With a wrong estimate of rows, a join compares every member with every contact. */
function conditionsOf({ search, tag, groupId }: ContactFilterValue, values: unknown[], perRow: boolean): string[] {
  const conditions: string[] = []
  if (search != null) conditions.push(matching(search, 'all', values))
  if (tag != null) conditions.push(`c.tags @> array[$${values.push(tag)}]`)
  if (groupId != null) {
    const n = values.push(groupId)
    const groups = 'select m."groupId" from contact_group_members m where m."contactId" = c.id'
    conditions.push(perRow ? `$${n} = any(array(${groups}))` : `exists (${groups} and m."groupId" = $${n})`)
  }
  return conditions
}

/**
 * SQL condition: a contact has `search` in its name, number or (`all`) e-mail address. The column "searchText" holds the three in this
 * order, case-folded, one per line: text with another line after it is not in the e-mail address. Only a name can have a line break.
 */
export function matching(search: string, where: 'all' | 'nameOrPhone', values: unknown[]): string {
  const literal = literalInLike(search)
  const within = (text: string, pattern: string) => `${text} like lower(upper($${values.push(pattern)}))`
  const matches = within('c."searchText"', where === 'all' ? `%${literal}%` : `%${literal}%\n%`)
  return search.includes('\n') ? `(${matches} and ${within('lower(upper(c.name))', `%${literal}%`)})` : matches
}
