// Operations on contacts: create, change, delete.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { tableOf } from '../core/graph/table.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { Contact } from '../generated/prisma/client.ts'
import { deleteContacts } from './groups/membership.ts'
import type { CreateContact, UpdateContact } from './input.ts'

/** Excludes the generated column "searchText", which only PostgreSQL uses. */
export const contactTable = tableOf('Contact', 'contacts')

export const contactColumns = contactTable.columns.map((name) => `c."${name}"`).join(', ')

/** @throws CONFLICT when another contact of the workspace has the number (exact under concurrency). */
export async function createContact(ctx: Context, input: CreateContact): Promise<Contact> {
  const { name, phone } = input
  return await write(ctx, async (tx) => {
    const { rows } = await tx.query<Contact>(
      `insert into contacts as c (id, "workspaceId", name, phone, "firstName", "lastName", email, tags, custom)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
       on conflict ("workspaceId", phone) do nothing returning ${contactColumns}`,
      [
        newId(),
        ctx.principal.workspaceId,
        name,
        phone,
        ...columnsOf({ ...input, firstName: input.firstName ?? firstWord(name) }),
      ],
    )
    return rows[0] ?? taken(phone)
  })
}

/**
 * Changes the given fields.
 * @throws NOT_FOUND when the workspace has no such contact, CONFLICT as {@link createContact}.
 */
export async function updateContact(ctx: Context, id: string, input: UpdateContact): Promise<Contact> {
  return await write(ctx, async (tx) => {
    const before = await holdContact(ctx, tx, id)
    const after = { ...before, ...given(input) }
    const { rows } = await tx
      .query<Contact>(
        `update contacts c set name = $2, phone = $3, "firstName" = $4, "lastName" = $5, email = $6, tags = $7, custom = $8, "updatedAt" = now()
         where id = $1 returning ${contactColumns}`,
        [id, after.name, after.phone, ...columnsOf(after)],
      )
      .catch((error: { code?: string }) => (error.code === '23505' ? taken(after.phone) : Promise.reject(error)))
    return rows[0] as Contact
  })
}

/**
 * Deletes the contact and its memberships. Its messages stay.
 * @throws NOT_FOUND when the workspace has no such contact.
 */
export async function deleteContact(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const ids = await deleteContacts(tx, ctx.principal.workspaceId, [id])
    return ids.length > 0 ? { id, deleted: true } : fail('NOT_FOUND', 'Contact not found')
  })
}

async function holdContact(ctx: Context, tx: Sql, id: string): Promise<Contact> {
  const { rows } = await tx.query<Contact>(
    `select ${contactColumns} from contacts c where id = $1 and "workspaceId" = $2 for update`,
    [id, ctx.principal.workspaceId],
  )
  return rows[0] ?? fail('NOT_FOUND', 'Contact not found')
}

type Optional = Pick<CreateContact, 'firstName' | 'lastName' | 'email' | 'tags'> & { custom?: unknown }

/** The values of the optional columns, in the order of the statements above. */
function columnsOf({ firstName, lastName, email, tags, custom }: Optional): unknown[] {
  return [firstName ?? null, lastName ?? null, email ?? null, [...new Set(tags)], JSON.stringify(custom ?? {})]
}

/** Drops fields that are undefined, which would otherwise overwrite the stored values. */
function given<Input extends object>(input: Input): Input {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as Input
}

function firstWord(name: string): string | null {
  return name.match(/\S+/)?.[0] ?? null
}

function taken(phone: string): never {
  fail('CONFLICT', `Another contact has the number ${phone}`)
}
