// GraphQL fields of contact groups and their members.
import { UsageRef } from '../../billing/schema.ts'
import { fail } from '../../core/errors.ts'
import { builder } from '../../core/graph/builder.ts'
import { connectionOf } from '../../core/graph/connection.ts'
import { DeletedRef } from '../../core/graph/deleted.ts'
import { parseChange } from '../../core/graph/input.ts'
import { readList } from '../../core/graph/list.ts'
import { tableOf } from '../../core/graph/table.ts'
import { keyed } from '../../core/idempotency/idempotency.ts'
import { parse, uuid } from '../../core/validation.ts'
import type { ContactGroup } from '../../generated/prisma/client.ts'
import { CreateContactGroupInput, UpdateContactGroupInput } from '../input.ts'
import { ContactConnection, ContactRef } from '../schema.ts'
import { groupsOf, pageOfMembers } from './members.ts'
import { countGroups, createGroup, deleteGroup, updateGroup } from './service.ts'

export const ContactGroupRef = builder.prismaObject('ContactGroup', {
  description: 'A group of contacts.',
  extensions: { bytes: 6 * 1024 },
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    description: t.exposeString('description', { nullable: true, description: 'Its purpose.' }),
    membersCount: t.exposeInt('membersCount', { description: 'The number of its members.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the group or its members last changed.' }),
    members: t.connection(
      {
        type: ContactRef,
        extensions: { page: 50 },
        description: 'Its members, latest first; 50 a page, at most 100.',
        args: {
          search: t.arg.string({
            description: 'Only members whose name or number contains this text, ignoring case; 1 to 100 characters.',
          }),
        },
        resolve: (group, args, ctx, info) => pageOfMembers(ctx, info, group, args),
      },
      ContactConnection,
    ),
  }),
})

const { connection: ContactGroupConnection } = connectionOf(ContactGroupRef, ['QueryContactGroupsConnection'])

builder.prismaObjectField(ContactRef, 'groups', (t) =>
  t.field({
    type: [ContactGroupRef],
    // On the largest plan, a contact may be in any number of groups. Beyond `most`, the budget of the operation limits the read.
    extensions: { items: 50, most: 10_000, columns: ['id'] },
    description: 'The groups of the contact, sorted by name: all of them, or the `first` that come `after` a name.',
    args: {
      first: t.arg.int({ description: 'The maximum number of groups, 1 to 100.' }),
      after: t.arg.string({
        description: 'Only groups whose name sorts after this one; pass the last name of the previous page.',
      }),
    },
    resolve: (contact, args, ctx) => groupsOf(ctx, contact.id, args),
  }),
)

const groupTable = tableOf('ContactGroup', 'contact_groups')

builder.objectField(UsageRef, 'contactGroups', (t) =>
  t.int({
    description: 'Contact groups that exist now.',
    resolve: (_, __, { app, principal }) => countGroups(app.db, principal.ownerId),
  }),
)

builder.queryFields((t) => ({
  contactGroup: t.prismaField({
    type: ContactGroupRef,
    nullable: true,
    description: 'One contact group.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.contactGroup.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Contact group not found')
    },
  }),
  contactGroups: t.connection(
    {
      type: ContactGroupRef,
      extensions: { page: 50 },
      description: 'The contact groups of the workspace, newest first; 50 a page, at most 100.',
      resolve: async (_, args, ctx, info) => {
        const { workspaceId } = ctx.principal
        const page = await readList<ContactGroup>(ctx, info, args, {
          table: groupTable,
          of: ['workspaceId', workspaceId],
          binding: ['contact groups', workspaceId],
        })
        return { ...page, totalCount: () => ctx.app.db.contactGroup.count({ where: { workspaceId } }) }
      },
    },
    ContactGroupConnection,
  ),
}))

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The group.' })
  return {
    createContactGroup: t.field({
      type: ContactGroupRef,
      description: 'Creates an empty group.',
      errors: [{ CONFLICT: 'if another group has the name' }, 'MAX_CONTACT_GROUPS_REACHED', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateContactGroupInput.ref, required: true, description: 'The new record.' }) },
      resolve: (_, { input }, ctx) => {
        const once = keyed(ctx, 'createContactGroup', input)
        return createGroup(once, CreateContactGroupInput.parse(ctx.app.config, input))
      },
    }),
    updateContactGroup: t.field({
      type: ContactGroupRef,
      description: 'Updates a group.',
      errors: ['NOT_FOUND', { CONFLICT: 'if another group has the name' }],
      args: { id, input: t.arg({ type: UpdateContactGroupInput.ref, required: true, description: 'The changes.' }) },
      resolve: (_, args, ctx) => updateGroup(ctx, ...parseChange(ctx.app.config, UpdateContactGroupInput, args)),
    }),
    deleteContactGroup: t.field({
      type: DeletedRef,
      description: 'Deletes a group. Its members stay contacts.',
      errors: ['NOT_FOUND'],
      args: { id },
      resolve: (_, args, ctx) => deleteGroup(ctx, parse(uuid, args.id, 'id')),
    }),
  }
})
