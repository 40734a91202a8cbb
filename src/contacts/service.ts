// Operations on contacts: create, change, delete; and the exports that other domains use.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { isTaken } from '../core/public-failure.ts'
import type { Contact, Prisma } from '../generated/prisma/client.ts'
import { type Addressee, lockNames, lockNumber, readAddressees } from './contacts.sql.ts'
import { withFewMessages } from './detach-messages.ts'
import { tellContacts } from './events.ts'
import { deleteContacts } from './groups/membership.ts'
import type { CreateContact, UpdateContact } from './input.ts'
import { namesOf } from './names.ts'

/** @throws NOT_FOUND when the workspace has no such contact. */
export async function findContact(db: Prisma.TransactionClient, workspaceId: string, id: string): Promise<Contact> {
  return (await db.contact.findFirst({ where: { id, workspaceId } })) ?? fail('NOT_FOUND', 'Contact not found')
}

/**
 * The contacts with these ids, in their order. `ids` must be distinct.
 * @throws NOT_FOUND when one of them is no contact of the workspace.
 */
export async function findAddressees(sql: Sql, workspaceId: string, ids: readonly string[]): Promise<Addressee[]> {
  const found = ids.length === 0 ? [] : await readAddressees(sql, workspaceId, ids)
  return found.length === ids.length ? found : fail('NOT_FOUND', 'Contact not found')
}

/** @throws CONFLICT when another contact of the workspace has the number (exact under concurrency). */
export async function createContact(ctx: Context, { idempotencyKey: _, ...input }: CreateContact): Promise<Contact> {
  const { workspaceId } = ctx.principal
  const data = { ...input, ...listsOf(input), ...namesOf(input), id: newId(), workspaceId }
  return await write(ctx, async (tx) => {
    const contact = await tx.db.contact.create({ data }).catch(refusePhone(input.phone))
    await tellContacts(tx, workspaceId, 'created', [contact.id])
    return contact
  })
}

/**
 * Changes the given fields.
 * @throws NOT_FOUND when the workspace has no such contact, CONFLICT as {@link createContact}.
 */
export async function updateContact(ctx: Context, id: string, input: UpdateContact): Promise<Contact> {
  const { workspaceId } = ctx.principal
  const where = { id, workspaceId }
  const renamed = [input.name, input.firstName, input.lastName].some((value) => value !== undefined)
  return await write(ctx, async (tx) => {
    const before = renamed ? await lockNames(tx, workspaceId, id) : undefined
    const data = { ...input, ...listsOf(input), ...(before && namesOf(input, before)) }
    const [contact] = await tx.db.contact.updateManyAndReturn({ where, data }).catch(refusePhone(input.phone))
    if (!contact) fail('NOT_FOUND', 'Contact not found')
    await tellContacts(tx, workspaceId, 'updated', [id])
    return contact
  })
}

/**
 * Deletes the contact and its memberships. Its messages stay, unless `erase` is true: then those with its number are erased right after.
 * @throws NOT_FOUND when the workspace has no such contact.
 */
export async function deleteContact(ctx: Context, id: string, erase = false): Promise<{ id: string; deleted: true }> {
  const { workspaceId } = ctx.principal
  const work = async (tx: Tx): Promise<{ id: string; deleted: true }> => {
    // Without the lock, a change of the number in the meantime would leave the messages with the new one.
    const phone = erase ? await lockNumber(tx, workspaceId, id) : undefined
    if (phone !== undefined) await ctx.app.hooks.eraseNumber(ctx.app, tx, ctx.principal, phone)
    const ids = await deleteContacts(ctx.app, tx, workspaceId, [id])
    return ids.length > 0 ? { id, deleted: true } : fail('NOT_FOUND', 'Contact not found')
  }
  return await withFewMessages(ctx.app, () => write(ctx, work))
}

/** The columns that are empty instead of null. A field that is not given stays undefined, which leaves its column unchanged. */
function listsOf({ tags, custom }: UpdateContact) {
  return { tags: tags === undefined ? undefined : [...new Set(tags)], custom: custom === undefined ? undefined : (custom ?? {}) }
}

function refusePhone(phone: string | undefined): (error: unknown) => never {
  return (error) => {
    if (isTaken(error)) fail('CONFLICT', `Another contact has the number ${phone}`)
    throw error
  }
}
