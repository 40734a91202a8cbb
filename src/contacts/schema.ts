// GraphQL fields of contacts.
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf, moved } from '../core/graph/connection.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { parseChange } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { EventRef } from '../events/schema.ts'
import { contactChanged } from './events.ts'
import type { Member } from './groups/members.sql.ts'
import { ContactFilter, CreateContactInput, UpdateContactInput } from './input.ts'
import { readCustomKeys } from './keys.sql.ts'
import { type ContactSort, pageOfContacts, sorts } from './list.ts'
import { loadContact } from './load.ts'
import { createContact, deleteContact, updateContact } from './service.ts'

/** Maximum bytes of a contact's custom values: 50 of 1,024 characters with names of 100, at four bytes each. */
const customBytes = 50 * 4 * 1_124

export const ContactRef = builder.prismaObject('Contact', {
  description: 'A person or company that the workspace exchanges messages with.',
  extensions: { bytes: 16 * 1024 + customBytes },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'The full name.' }),
    firstName: t.exposeString('firstName', { nullable: true, description: 'The first name.' }),
    lastName: t.exposeString('lastName', { nullable: true, description: 'The last name.' }),
    phone: t.exposeString('phone', { description: 'The number, E.164.' }),
    email: t.exposeString('email', { nullable: true, description: 'The e-mail address.' }),
    tags: t.exposeStringList('tags', { extensions: { items: 50 }, description: 'Labels.' }),
    custom: t.expose('custom', {
      type: 'JSON',
      extensions: { bytes: customBytes },
      description: 'Values for templates, by key.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

builder.prismaObjectField(EventRef, 'contact', (t) =>
  t.field({
    type: ContactRef,
    nullable: true,
    description: 'The contact of `contact_changed`; null if it was deleted, or if many changed at once.',
    resolve: ({ type, payload }, _, ctx) => {
      if (type !== contactChanged.type) return null
      const { contactId } = (typeof payload === 'string' ? JSON.parse(payload) : payload) as { contactId: string | null }
      return contactId === null ? null : loadContact(ctx, contactId)
    },
  }),
)

const page = connectionOf(ContactRef, ['QueryContactsConnection', 'ContactGroupMembersConnection'])
export const ContactConnection = page.connection

const addedAt = {
  type: 'DateTime',
  description: 'When the contact was added to the list: to the group for its members, otherwise to the workspace.',
} as const
builder.objectField(page.edge, 'addedAt', (t) =>
  t.field({ ...addedAt, resolve: ({ node }) => ('addedAt' in node ? (node as Member).addedAt : node.createdAt) }),
)
for (const edge of page.formerEdges)
  builder.interfaceField(edge, 'addedAt', (t) => t.field({ ...addedAt, ...moved('ContactEdge') }))

const ContactSortRef = builder.enumType('ContactSort', {
  description: 'The sort order of contacts.',
  values: Object.keys(sorts) as ContactSort[],
})

builder.queryFields((t) => ({
  contact: t.prismaField({
    type: ContactRef,
    nullable: true,
    description: 'One contact.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.contact.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Contact not found')
    },
  }),
  contacts: t.connection(
    {
      type: ContactRef,
      extensions: { page: 50 },
      description:
        'The contacts of the workspace, newest first unless sorted otherwise; 50 a page, at most 100. Without a total count.',
      args: {
        filter: t.arg({ type: ContactFilter.ref, description: 'The filters.' }),
        sort: t.arg({ type: ContactSortRef, defaultValue: 'createdAt_desc', description: 'The sort order.' }),
      },
      resolve: (_, { filter, sort, ...page }, ctx, info) =>
        pageOfContacts(ctx, info, ContactFilter.parse(ctx.app.config, filter ?? {}), sort ?? 'createdAt_desc', page),
    },
    ContactConnection,
  ),
}))

/** Most keys that callers get. */
const maxKeys = 1_000

builder.queryField('contactKeys', (t) =>
  t.stringList({
    extensions: { items: maxKeys },
    description: 'The keys that contacts of the workspace have in `custom`, in alphabetical order, at most 1000.',
    resolve: (_, __, { app, principal }) => readCustomKeys(app.pool, principal.workspaceId, maxKeys),
  }),
)

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The contact.' })
  return {
    createContact: t.field({
      type: ContactRef,
      description: 'Creates a contact.',
      errors: [
        { CONFLICT: 'if another contact has the number' },
        { NOT_FOUND: 'if the request is repeated with its Idempotency-Key and its contact has been erased' },
        'SUBSCRIPTION_INACTIVE',
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateContactInput.ref, required: true, description: 'The new record.' }) },
      resolve: (_, { input }, ctx) => {
        const once = keyed(ctx, 'createContact', input)
        return createContact(once, CreateContactInput.parse(ctx.app.config, input))
      },
    }),
    updateContact: t.field({
      type: ContactRef,
      description: 'Updates a contact.',
      errors: ['NOT_FOUND', { CONFLICT: 'if another contact has the number' }],
      args: { id, input: t.arg({ type: UpdateContactInput.ref, required: true, description: 'The changes.' }) },
      resolve: (_, args, ctx) => updateContact(ctx, ...parseChange(ctx.app.config, UpdateContactInput, args)),
    }),
    deleteContact: t.field({
      type: DeletedRef,
      description:
        'Deletes a contact and removes it from its groups. Its messages stay. With `erase` the messages with its number, in both directions, are erased within seconds, and files that nothing else uses. Usage, counts of campaigns and the do-not-contact list stay.',
      errors: ['NOT_FOUND'],
      args: { id, erase: t.arg.boolean({ description: 'True to erase its messages and files too; false by default.' }) },
      resolve: (_, args, ctx) => deleteContact(ctx, parse(uuid, args.id, 'id'), args.erase ?? false),
    }),
  }
})
