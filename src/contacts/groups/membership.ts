// Adds contacts to groups, removes them from groups, and deletes them: whole sets at once, with correct member counts at every commit.
// Every transaction takes its locks in one order, against deadlocks: contacts by id, then groups by id, then members and messages.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { lockOwnContacts } from '../contacts.sql.ts'
import { detachedAtOnce, ManyMessages } from '../detach-messages.ts'
import { tellContacts } from '../events.ts'
import {
  addToCount,
  deleteContactRows,
  deleteMembers,
  deleteMemberships,
  haveMoreMessages,
  insertMembers,
  lockGroup,
  lockGroupsWith,
} from './membership.sql.ts'

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
  const found = await lockOwnContacts(tx, workspaceId, contactIds, 'key share')
  await lockOwnGroup(tx, workspaceId, groupId)
  const added = await insertMembers(tx, groupId, found)
  if (added > 0) {
    await addToCount(tx, groupId, added)
    await tellContacts(tx, workspaceId, 'updated', found)
  }
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
  await lockOwnGroup(tx, workspaceId, groupId)
  const removed = await deleteMembers(tx, groupId, contactIds)
  if (removed > 0) {
    await addToCount(tx, groupId, -removed)
    await tellContacts(tx, workspaceId, 'updated', contactIds)
  }
  return { removed, notFound: contactIds.length - removed }
}

/**
 * Deletes contacts of the workspace and their memberships. Returns the ids of those that existed. Their messages stay without a
 * contact, but those of campaigns that have not left are withdrawn.
 * @throws ManyMessages, for which callers use `withFewMessages`.
 */
export async function deleteContacts(app: App, tx: Sql, workspaceId: string, contactIds: readonly string[]): Promise<string[]> {
  const ids = await lockOwnContacts(tx, workspaceId, contactIds, 'update')
  if (await haveMoreMessages(tx, ids, detachedAtOnce)) throw new ManyMessages(ids)
  await lockGroupsWith(tx, ids)
  // After all that it may have to wait for: the outcomes of sends, of all accounts together, wait for the messages that this locks.
  const giveBack = await app.hooks.leaveOutOfCampaigns(app, tx, ids)
  await deleteMemberships(tx, ids)
  await deleteContactRows(tx, ids)
  await giveBack()
  await tellContacts(tx, workspaceId, 'deleted', ids)
  return ids
}

/**
 * Locks a group of the workspace against change and deletion.
 * @throws NOT_FOUND when the workspace has no such group.
 */
export async function lockOwnGroup(tx: Sql, workspaceId: string, groupId: string): Promise<void> {
  if (!(await lockGroup(tx, workspaceId, groupId))) fail('NOT_FOUND', 'Contact group not found')
}
