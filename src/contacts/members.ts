// Reading who is in which group: any number of groups' pages, or contacts' groups, in one statement.
import type { Context } from '../core/context.ts'
import { load } from '../core/load.ts'
import { keyset, type Page, type PageArgs, type Place, readPage } from '../core/pagination.ts'
import { parse } from '../core/validation.ts'
import type { Contact, ContactGroup } from '../generated/prisma/client.ts'
import { search as searchTerm } from './input.ts'
import { matching } from './list.ts'
import { contactColumns } from './service.ts'

export type Member = Contact & { addedAt: Date }

type Rows = Place & { take: number; search: string | null }

/** A page of a group's members, whoever joined last first; 50 unless asked otherwise. */
export async function pageOfMembers(
  ctx: Context,
  group: Pick<ContactGroup, 'id' | 'membersCount'>,
  args: PageArgs & { search?: string | null },
): Promise<Page<Member> & { totalCount: () => number | Promise<number> }> {
  const search = args.search == null ? null : parse(searchTerm, args.search, 'search')
  const page = await readPage<Member>({
    args,
    binding: ['members', group.id, search],
    field: 'addedAt',
    direction: 'desc',
    defaultSize: 50,
    find: ({ take }, place) => {
      const rows = { ...place, take, search }
      return load(ctx, `members ${JSON.stringify(rows)}`, group.id, (ids) => readMembers(ctx, ids, rows))
    },
  })
  const totalCount = () =>
    search === null
      ? group.membersCount
      : load(ctx, `members' count ${search}`, group.id, (ids) => countMembers(ctx, ids, search))
  return { ...page, totalCount }
}

async function readMembers(ctx: Context, groupIds: readonly string[], rows: Rows): Promise<Member[][]> {
  const values: unknown[] = [...groupIds]
  const conditions = [...membersOf(rows.search, values), ...keyset(rows, 'm."addedAt"', 'm."contactId"', values)]
  const found = await ctx.app.pool.query<Member & { groupId: string }>(
    `select r.* from ${listOf(groupIds)} as g(id) cross join lateral (
       select m."groupId", m."addedAt", ${contactColumns} from contact_group_members m join contacts c on c.id = m."contactId"
       where ${conditions.join(' and ')}
       order by m."addedAt" ${rows.order}, m."contactId" ${rows.order} limit $${values.push(rows.take)}
     ) r order by r."addedAt" ${rows.order}, r.id ${rows.order}`,
    values,
  )
  const byGroup = Map.groupBy(found.rows, (row) => row.groupId)
  return groupIds.map((id) => byGroup.get(id) ?? [])
}

async function countMembers(ctx: Context, groupIds: readonly string[], search: string): Promise<number[]> {
  const values: unknown[] = [...groupIds]
  const { rows } = await ctx.app.pool.query<{ id: string; n: number }>(
    `select g.id, r.n from ${listOf(groupIds)} as g(id) cross join lateral (
       select count(*)::int as n from contact_group_members m join contacts c on c.id = m."contactId"
       where ${membersOf(search, values).join(' and ')}
     ) r`,
    values,
  )
  const counts = new Map(rows.map(({ id, n }) => [id, n]))
  return groupIds.map((id) => counts.get(id) ?? 0)
}

function membersOf(search: string | null, values: unknown[]): string[] {
  return ['m."groupId" = g.id', ...(search === null ? [] : [matching(search, 'nameOrPhone', values)])]
}

/** As values and not as an array: where there is one, which is the rule, Postgres plans with what it knows of that group. */
function listOf(ids: readonly string[]): string {
  return `(values ${ids.map((_, i) => `($${i + 1}::uuid)`).join(', ')})`
}

/** The groups that a contact is in, by name. */
export async function groupsOf(ctx: Context, contactId: string): Promise<ContactGroup[]> {
  return await load(ctx, 'groups of contacts', contactId, async (ids) => {
    const { rows } = await ctx.app.pool.query<ContactGroup & { contactId: string }>(
      `select m."contactId", g.* from contact_group_members m join contact_groups g on g.id = m."groupId"
       where m."contactId" = any($1::uuid[]) order by g.name, g.id`,
      [ids],
    )
    const byContact = Map.groupBy(rows, (row) => row.contactId)
    return ids.map((id) => byContact.get(id) ?? [])
  })
}
