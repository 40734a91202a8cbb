// SQL of changes of membership: whole sets of contacts in one statement each. membership.ts says in which order they take their locks.
import type { Sql } from '../../core/database/database.ts'
import { deleteBatch } from '../../core/jobs/prune.sql.ts'

/** Locks a group of the workspace against change and deletion (FOR NO KEY UPDATE); false if there is none. */
export async function lockGroup(tx: Sql, workspaceId: string, groupId: string): Promise<boolean> {
  const text = 'select 1 from contact_groups where id = $1 and "workspaceId" = $2 for no key update'
  return (await tx.query(text, [groupId, workspaceId])).rowCount === 1
}

/** Locks the groups that have any of the contacts, in the order of their ids. */
export async function lockGroupsWith(tx: Sql, contactIds: readonly string[]): Promise<void> {
  await tx.query(
    `select 1 from contact_groups where id in (select "groupId" from contact_group_members where "contactId" = any($1::uuid[]))
     order by id for no key update`,
    [contactIds],
  )
}

/** Returns how many of the contacts were no members. Relies on the locks of the contacts and the group. */
export async function insertMembers(tx: Sql, groupId: string, contactIds: readonly string[]): Promise<number> {
  const { rowCount } = await tx.query(
    `insert into contact_group_members ("groupId", "contactId") select $1, id from unnest($2::uuid[]) id on conflict do nothing`,
    [groupId, contactIds],
  )
  return rowCount ?? 0
}

/** Returns how many of the contacts were members. Relies on the lock of the group. */
export async function deleteMembers(tx: Sql, groupId: string, contactIds: readonly string[]): Promise<number> {
  const text = 'delete from contact_group_members where "groupId" = $1 and "contactId" = any($2::uuid[])'
  return (await tx.query(text, [groupId, contactIds])).rowCount ?? 0
}

/** Memberships that end in one statement: far fewer than fit within its time limit. */
const endedAtOnce = 50_000

/** Takes all contacts out of a group that is about to be deleted. Relies on the lock of the group. */
export async function deleteAllMembers(tx: Sql, groupId: string, atOnce = endedAtOnce): Promise<void> {
  // The key of the table would do it in one statement, which takes longer than it may for millions of members.
  const members = { table: 'contact_group_members', where: '"groupId" = $2', values: [groupId] }
  let ended: number
  do ended = await deleteBatch(tx, members, atOnce)
  while (ended === atOnce)
}

/** Changes the number of members of a group. Relies on the lock of the group. */
export async function addToCount(tx: Sql, groupId: string, by: number): Promise<void> {
  const text = 'update contact_groups set "membersCount" = "membersCount" + $2, "updatedAt" = now() where id = $1'
  await tx.query(text, [groupId, by])
}

/** Takes contacts out of all their groups, with the counts of those. Relies on {@link lockGroupsWith}. */
export async function deleteMemberships(tx: Sql, contactIds: readonly string[]): Promise<void> {
  await tx.query(
    `with gone as (
       delete from contact_group_members where "contactId" = any($1::uuid[]) returning "groupId"
     ), counted as (
       select "groupId" as id, count(*)::int as n from gone group by 1
     )
     update contact_groups g set "membersCount" = g."membersCount" - counted.n, "updatedAt" = now() from counted where g.id = counted.id`,
    [contactIds],
  )
}

/** Messages of campaigns that may not have left are found by their contact, and withdrawn, when it is deleted. They keep it until then. */
const detachable = `"contactId" = any($1::uuid[]) and ("campaignId" is null or status not in ('queued', 'sending'))`

/** True if the contacts have more than `most` messages that can be taken from them. Relies on the index of messages by contact. */
export async function haveMoreMessages(tx: Sql, contactIds: readonly string[], most: number): Promise<boolean> {
  const text = `select from messages where ${detachable} offset $2 limit 1`
  return (await tx.query(text, [contactIds, most])).rowCount === 1
}

/** Takes up to `most` of these messages from contacts, locked in the order of their ids. Returns how many there were. */
export async function detachMessages(sql: Sql, contactIds: readonly string[], most: number): Promise<number> {
  const { rowCount } = await sql.query(
    `with found as (select id from messages where ${detachable} limit $2),
       locked as (select id from messages where id = any(array(select id from found)) order by id for update)
     update messages m set "contactId" = null from locked where m.id = locked.id`,
    [contactIds, most],
  )
  return rowCount ?? 0
}

/**
 * Deletes contacts without memberships. Relies on the lock `update` of {@link lockOwnContacts}. Their messages stay, without a contact, as
 * the foreign key says.
 */
export async function deleteContactRows(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.query('delete from contacts where id = any($1::uuid[])', [ids])
}
