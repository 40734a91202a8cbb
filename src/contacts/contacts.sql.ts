// SQL of contacts that messages and campaigns name: whole sets by their ids or numbers.
import { arrayOf } from '../core/database/array-parameter.ts'
import type { Sql } from '../core/database/database.ts'
import { unindexed } from '../core/database/unindexed.ts'
import type { Contact } from '../generated/prisma/client.ts'
import type { StoredNames } from './names.ts'

/** The fields of a contact that messages and templates use. */
export type NamedContact = Pick<Contact, 'id' | 'workspaceId' | 'name' | 'firstName' | 'lastName' | 'phone' | 'email' | 'custom'>

const columns = 'id, "workspaceId", name, "firstName", "lastName", phone, email, custom'

/** `inUse`: another transaction is deleting the contact, or changes its number. The row is as before that, and not locked. */
export type LockedContact = NamedContact & { inUse: boolean }

function lockSql(where: string, waits: boolean): string {
  const locked = `select ${columns} from contacts where ${where} order by id for key share`
  if (waits) return `select *, false as "inUse" from (${locked}) locked`
  return `with locked as (${locked} skip locked)
    select ${columns}, id not in (select id from locked) as "inUse" from contacts where ${where}`
}

const byId = `id = any(${arrayOf('$1', 'uuid')})`
const byPhone = `("workspaceId", phone) in (select * from unnest(${arrayOf('$1', 'uuid')}, $2::text[]))`
const lockById = { waiting: lockSql(byId, true), atOnce: lockSql(byId, false) }
const lockByPhone = { waiting: lockSql(byPhone, true), atOnce: lockSql(byPhone, false) }

/**
 * Contacts of any workspace by their ids. Locks them FOR KEY SHARE, in the order of their ids, so that they are not deleted before
 * `tx` has stored rows that refer to them. The caller compares `workspaceId`. Without `waits`, those in use are not waited for.
 */
export async function lockContacts(tx: Sql, ids: readonly string[], waits: boolean): Promise<LockedContact[]> {
  if (ids.length === 0) return []
  const name = waits ? 'contacts.lock' : 'contacts.lockAtOnce'
  return (await tx.query<LockedContact>({ name, text: waits ? lockById.waiting : lockById.atOnce, values: [ids] })).rows
}

/**
 * The contacts of the workspace among `contactIds`, locked in the order of their ids. `key share` prevents their deletion until
 * `tx` has stored rows that refer to them; `update` is for a deletion. Returns their ids.
 */
export async function lockOwnContacts(
  tx: Sql,
  workspaceId: string,
  contactIds: readonly string[],
  lock: 'key share' | 'update',
): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from contacts where id = any($1::uuid[]) and ${unindexed('"workspaceId" = $2')} order by id for ${lock}`,
    [contactIds, workspaceId],
  )
  return rows.map(({ id }) => id)
}

/** Contacts by workspace and number, locked as by {@link lockContacts}. Relies on the unique index (workspaceId, phone). */
export async function lockContactsByPhone(
  tx: Sql,
  asked: readonly { workspaceId: string; phone: string }[],
  waits: boolean,
): Promise<LockedContact[]> {
  if (asked.length === 0) return []
  const { rows } = await tx.query<LockedContact>({
    name: waits ? 'contacts.lockByPhone' : 'contacts.lockByPhoneAtOnce',
    text: waits ? lockByPhone.waiting : lockByPhone.atOnce,
    values: [asked.map(({ workspaceId }) => workspaceId), asked.map(({ phone }) => phone)],
  })
  return rows
}

/** Contacts of the workspace with these numbers, without a lock. Relies on the unique index (workspaceId, phone). */
export async function readContactsByPhone(sql: Sql, workspaceId: string, phones: readonly string[]): Promise<NamedContact[]> {
  const text = `select ${columns} from contacts where "workspaceId" = $1 and phone = any($2::text[])`
  return (await sql.query<NamedContact>(text, [workspaceId, phones])).rows
}

/** Locks a contact of the workspace for a change that depends on its present names; undefined if there is none. */
export async function lockNames(tx: Sql, workspaceId: string, id: string): Promise<StoredNames | undefined> {
  const text = `select name, "firstName", "lastName", "givenFirstName", "givenLastName" from contacts
    where id = $1 and "workspaceId" = $2 for no key update`
  return (await tx.query<StoredNames>(text, [id, workspaceId])).rows[0]
}

/** Locks a contact of the workspace that is to be deleted, and returns its number; undefined if there is none. */
export async function lockNumber(tx: Sql, workspaceId: string, id: string): Promise<string | undefined> {
  const text = 'select phone from contacts where id = $1 and "workspaceId" = $2 for update'
  return (await tx.query<{ phone: string }>(text, [id, workspaceId])).rows[0]?.phone
}

/** A contact as the recipient of a campaign. */
export type Addressee = Pick<Contact, 'id' | 'phone'>

/** The contacts of the workspace among `ids`, in the order of `ids`. */
export async function readAddressees(sql: Sql, workspaceId: string, ids: readonly string[]): Promise<Addressee[]> {
  const { rows } = await sql.query<Addressee>(
    `select c.id, c.phone from unnest($2::uuid[]) with ordinality as a(id, position)
     join contacts c on c.id = a.id and ${unindexed('c."workspaceId" = $1')} order by a.position`,
    [workspaceId, ids],
  )
  return rows
}
