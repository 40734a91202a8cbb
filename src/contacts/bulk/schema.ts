// GraphQL fields of bulk operations on contacts.
import { builder } from '../../core/graph/builder.ts'
import { parse, uuid } from '../../core/validation.ts'
import { followOne } from '../../events/live/follow.ts'
import { distinctIds } from '../contact-ids.ts'
import type { Added, Removed } from '../groups/membership.ts'
import { keptForDays } from '../prune.ts'
import { pageOfBulkJobs, readBulkJob } from './list.ts'
import { BulkJobRef } from './object.ts'
import { addGroupMembers, type Bulk, bulkDeleteContacts, cancelBulkJob, type Deleted, removeGroupMembers } from './service.ts'

const jobInstead = 'null where a job does it.'
const jobOf = { type: BulkJobRef, nullable: true, description: 'The job that does it; null where it is done.' } as const

const AddedRef = builder.objectRef<Bulk<Added>>('AddGroupMembersResult').implement({
  description: 'What became of contacts that were to join a group: fewer than 100 at once, more by a job.',
  fields: (t) => ({
    added: t.int({
      nullable: true,
      description: `How many joined; ${jobInstead}`,
      resolve: ({ done }) => done?.added,
    }),
    alreadyInGroup: t.int({
      nullable: true,
      description: `How many were members already; ${jobInstead}`,
      resolve: ({ done }) => done?.alreadyInGroup,
    }),
    notFound: t.int({
      nullable: true,
      description: `How many are no contact of the workspace; ${jobInstead}`,
      resolve: ({ done }) => done?.notFound,
    }),
    total: t.int({
      nullable: true,
      description: `How many different ids were given; ${jobInstead}`,
      resolve: ({ done }) => done && done.added + done.alreadyInGroup + done.notFound,
    }),
    job: t.field({ ...jobOf, resolve: ({ job }) => job }),
  }),
})

const RemovedRef = builder.objectRef<Removed>('RemoveGroupMembersResult').implement({
  description: 'What became of contacts that were to leave a group.',
  fields: (t) => ({
    removed: t.exposeInt('removed', { description: 'How many left.' }),
    notFound: t.exposeInt('notFound', { description: 'How many are no member of the group.' }),
    total: t.int({
      description: 'How many different ids were given.',
      resolve: ({ removed, notFound }) => removed + notFound,
    }),
  }),
})

const DeletedContactsRef = builder.objectRef<Bulk<Deleted>>('BulkDeleteContactsResult').implement({
  description: 'What became of contacts that were to be deleted: fewer than 100 at once, more by a job.',
  fields: (t) => ({
    requested: t.int({
      nullable: true,
      description: `How many different ids were given; ${jobInstead}`,
      resolve: ({ done }) => done?.requested,
    }),
    deleted: t.int({
      nullable: true,
      description: `How many are gone; ${jobInstead}`,
      resolve: ({ done }) => done?.deleted,
    }),
    notFound: t.idList({
      // From 100 ids on, a job deletes the contacts and this list is empty.
      extensions: { items: 100 },
      description: 'The ids that are no contact of the workspace; none where a job does it, whose `summary` counts them.',
      resolve: ({ done }) => done?.notFound ?? [],
    }),
    job: t.field({ ...jobOf, resolve: ({ job }) => job }),
  }),
})

builder.queryFields((t) => ({
  bulkJob: t.field({
    type: BulkJobRef,
    description: 'One bulk job.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => readBulkJob(ctx, parse(uuid, id, 'id')),
  }),
  bulkJobs: t.connection({
    type: BulkJobRef,
    extensions: { page: 20 },
    description: `The bulk jobs of the workspace, newest first; 20 a page, at most 100. A cursor is the id of its job. A job is kept for ${keptForDays} days after it has ended.`,
    resolve: (_, args, ctx) => pageOfBulkJobs(ctx, args),
  }),
}))

builder.mutationFields((t) => {
  const groupId = t.arg.id({ required: true, description: 'The group.' })
  const contactIds = t.arg.idList({
    required: true,
    description: 'The contacts, 1 to 10,000 different ones; one that stands twice counts once.',
  })
  return {
    addGroupMembers: t.field({
      type: AddedRef,
      description: 'Puts contacts into a group; from 100 on, a job does it.',
      errors: ['NOT_FOUND', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { groupId, contactIds },
      resolve: (_, args, ctx) => addGroupMembers(ctx, parse(uuid, args.groupId, 'groupId'), distinctIds(args.contactIds)),
    }),
    removeGroupMembers: t.field({
      type: RemovedRef,
      description: 'Takes contacts out of a group, at once.',
      errors: ['NOT_FOUND'],
      args: { groupId, contactIds },
      resolve: (_, args, ctx) => removeGroupMembers(ctx, parse(uuid, args.groupId, 'groupId'), distinctIds(args.contactIds)),
    }),
    bulkDeleteContacts: t.field({
      type: DeletedContactsRef,
      description: 'Deletes contacts and takes them out of their groups; from 100 on, a job does it. Their messages stay.',
      args: { contactIds },
      resolve: (_, args, ctx) => bulkDeleteContacts(ctx, distinctIds(args.contactIds)),
    }),
    cancelBulkJob: t.field({
      type: BulkJobRef,
      description: 'Stops a bulk job that has not ended; what it has done stays.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id: t.arg.id({ required: true, description: 'The job.' }) },
      resolve: (_, { id }, ctx) => cancelBulkJob(ctx, parse(uuid, id, 'id')),
    }),
  }
})

builder.subscriptionField('bulkJob', (t) =>
  t.field({
    type: BulkJobRef,
    description: 'A bulk job: now, and again whenever it has gone on.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    subscribe: (_, args, ctx) => followOne('bulkJob', args.id, (id) => readBulkJob(ctx, id)),
    resolve: (_, { id }, ctx) => readBulkJob(ctx, parse(uuid, id, 'id')),
  }),
)
