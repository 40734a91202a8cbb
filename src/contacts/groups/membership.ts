// Adds contacts to groups, removes them from groups, and deletes them: whole sets at once, with correct member counts at every commit.
// Every transaction takes its locks in one order, against deadlocks: contacts by id, then groups by id, then members.
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'

export interface Added {
  added: number
  alreadyInGroup: number
  notFound: number
}

export interface Removed {
  removed: number
  notFound: number
}

/**
 * Adds contacts to a group. `contactIds` must be distinct.
 * @throws NOT_FOUND when the workspace has no such group; then nothing is changed.
 */
export async function addMembers(tx: Sql, workspaceId: string, groupId: string, contactIds: readonly string[]): Promise<Added> {
  // FOR KEY SHARE prevents a deletion of these contacts until their memberships exist and are deleted with them.
  const { rows: found } = await tx.query<{ id: string }>(
    'select id from contacts where id = any($1::uuid[]) and "workspaceId" = $2 order by id for key share',
    [contactIds, workspaceId],
  )
  await holdGroup(tx, workspaceId, groupId)
  const { rowCount } = await tx.query(
    `insert into contact_group_members ("groupId", "contactId") select $1, id from unnest($2::uuid[]) id on conflict do nothing`,
    [groupId, found.map(({ id }) => id)],
  )
  const added = rowCount ?? 0
  await changeCount(tx, groupId, added)
  return { added, alreadyInGroup: found.length - added, notFound: contactIds.length - found.length }
}

/**
 * Removes contacts from a group. `contactIds` must be distinct.
 * @throws NOT_FOUND when the workspace has no such group; then nothing is changed.
 */
export async function removeMembers(
  tx: Sql,
  workspaceId: string,
  groupId: string,
  contactIds: readonly string[],
): Promise<Removed> {
  await holdGroup(tx, workspaceId, groupId)
  const { rowCount } = await tx.query(
    'delete from contact_group_members where "groupId" = $1 and "contactId" = any($2::uuid[])',
    [groupId, contactIds],
  )
  const removed = rowCount ?? 0
  await changeCount(tx, groupId, -removed)
  return { removed, notFound: contactIds.length - removed }
}

/**
 * Deletes contacts of the workspace and their memberships. Returns the ids of those that existed. Their messages stay without a
 * contact, and recipients of campaigns keep the number.
 */
export async function deleteContacts(tx: Sql, workspaceId: string, contactIds: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    'select id from contacts where id = any($1::uuid[]) and "workspaceId" = $2 order by id for update',
    [contactIds, workspaceId],
  )
  const ids = rows.map(({ id }) => id)
  await tx.query(
    `select 1 from contact_groups where id in (select "groupId" from contact_group_members where "contactId" = any($1::uuid[]))
     order by id for no key update`,
    [ids],
  )
  await tx.query(
    `with gone as (
       delete from contact_group_members where "contactId" = any($1::uuid[]) returning "groupId"
     ), counted as (
       select "groupId" as id, count(*)::int as n from gone group by 1
     )
     update contact_groups g set "membersCount" = g."membersCount" - counted.n, "updatedAt" = now() from counted where g.id = counted.id`,
    [ids],
  )
  // Each message of a contact loses its reference, which is slow with hundreds of thousands. The caller can split a set of contacts
  // after a timeout, but not a single one, which therefore gets a longer limit.
  if (ids.length === 1) await tx.query(`set local statement_timeout = '60s'`)
  await tx.query('delete from contacts where id = any($1::uuid[])', [ids])
  return ids
}

/**
 * Locks a group of the workspace against change and deletion (FOR NO KEY UPDATE).
 * @throws NOT_FOUND when the workspace has no such group.
 */
export async function holdGroup(tx: Sql, workspaceId: string, groupId: string): Promise<void> {
  const { rowCount } = await tx.query('select 1 from contact_groups where id = $1 and "workspaceId" = $2 for no key update', [
    groupId,
    workspaceId,
  ])
  if (rowCount === 0) fail('NOT_FOUND', 'Contact group not found')
}

async function changeCount(tx: Sql, groupId: string, by: number): Promise<void> {
  if (by === 0) return
  await tx.query('update contact_groups set "membersCount" = "membersCount" + $2, "updatedAt" = now() where id = $1', [
    groupId,
    by,
  ])
}
