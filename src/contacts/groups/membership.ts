// Contacts in and out of groups, and out of the workspace: whole sets at once, with each group's count right at every commit.
// Everyone takes locks in one order, so that nobody waits in a circle: contacts by id, then groups by id, then members.
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

/** Puts contacts into a group; `contactIds` are distinct. @throws NOT_FOUND for the group, before anything is changed. */
export async function addMembers(tx: Sql, workspaceId: string, groupId: string, contactIds: readonly string[]): Promise<Added> {
  // Held against being deleted until their membership is there to be deleted with them.
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

/** Takes contacts out of a group; `contactIds` are distinct. @throws NOT_FOUND for the group, before anything is changed. */
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
 * Deletes contacts of the workspace and their memberships; answers the ids of those that were there. Their messages stay
 * without a contact, and recipients of campaigns keep the number.
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
  // Each message of theirs loses its contact, which takes long where there are hundreds of thousands. Of several, fewer can be asked for.
  if (ids.length === 1) await tx.query(`set local statement_timeout = '60s'`)
  await tx.query('delete from contacts where id = any($1::uuid[])', [ids])
  return ids
}

/** Holds a group of the workspace against being changed or deleted. @throws NOT_FOUND. */
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
