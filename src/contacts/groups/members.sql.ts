// SQL of lists of members and of groups: the pages of any number of groups, or of contacts, in one statement (laterals).
import type { Sql } from '../../core/database/database.ts'
import { keyset, type Place } from '../../core/graph/pagination.ts'
import type { Contact, ContactGroup } from '../../generated/prisma/client.ts'
import { matching } from '../list.sql.ts'

export type Member = Contact & { addedAt: Date }

export interface MemberQuery {
  search: string | null
  /** SQL list of columns of the contact `c`. */
  columns: string
  place: Place
  take: number
}

/**
 * The matching members among the first `window` of each group from the position on, or among all if `window` is null, by group. The
 * window is read by the index (groupId, addedAt, contactId).
 */
export async function readMembers(
  sql: Sql,
  groupIds: readonly string[],
  { search, columns, place, take }: MemberQuery,
  window: number | null,
): Promise<Map<string, Member[]>> {
  const values: unknown[] = [...groupIds]
  const order = `order by "addedAt" ${place.order}, "contactId" ${place.order}`
  const here = ['m."groupId" = g.id', ...keyset(place, 'm."addedAt"', 'm."contactId"', values)].join(' and ')
  const match = search === null ? 'true' : matching(search, 'nameOrPhone', values)
  const { rows } = await sql.query<Member & { groupId: string }>(
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

/** The number of matching members of each group. */
export async function countMembers(sql: Sql, groupIds: readonly string[], search: string): Promise<Map<string, number>> {
  const values: unknown[] = [...groupIds]
  const { rows } = await sql.query<{ id: string; n: number }>(
    `select g.id, r.n from ${listOf(groupIds)} as g(id) cross join lateral (
       select count(*)::int as n from contact_group_members m join contacts c on c.id = m."contactId"
       where m."groupId" = g.id and ${matching(search, 'nameOrPhone', values)}
     ) r`,
    values,
  )
  return new Map(rows.map(({ id, n }) => [id, n]))
}

/** A VALUES list instead of an array: for a single group, the usual case, PostgreSQL plans with the statistics of that group. */
function listOf(ids: readonly string[]): string {
  return `(values ${ids.map((_, i) => `($${i + 1}::uuid)`).join(', ')})`
}

/** The groups of each contact, by name: those with a name after `after`, at most `limit`. Relies on the index (contactId) of members. */
export async function readGroupsOf(
  sql: Sql,
  contactIds: readonly string[],
  after: string | null,
  limit: number | 'all',
): Promise<Map<string, ContactGroup[]>> {
  const { rows } = await sql.query<ContactGroup & { contactId: string }>(
    `select c.id as "contactId", g.* from unnest($1::uuid[]) as c(id) cross join lateral (
       select g.* from contact_group_members m join contact_groups g on g.id = m."groupId"
       where m."contactId" = c.id and ($2::text is null or g.name > $2) order by g.name limit ${limit}
     ) g order by g.name`,
    [contactIds, after],
  )
  return Map.groupBy(rows, (row) => row.contactId)
}
