// GraphQL fields of bulk operations on contacts.
import { builder } from '../../core/graph/builder.ts'
import { connectionOf } from '../../core/graph/connection.ts'
import { parse, uuid } from '../../core/validation.ts'
import { followOne } from '../../events/live/follow.ts'
import { distinctIds, groupAndIds } from '../contact-ids.ts'
import type { Added, Removed } from '../groups/membership.ts'
import { keptForDays } from '../prune.ts'
import { pageOfBulkJobs, readBulkJob } from './list.ts'
import { BulkJobRef } from './object.ts'
import { addGroupMembers, type Bulk, bulkDeleteContacts, cancelBulkJob, type Deleted, removeGroupMembers } from './service.ts'

const jobInstead = 'null if a job processes the request.'
const jobOf = {
  type: BulkJobRef,
  nullable: true,
  description: 'The job that processes the request; null if it was processed at once.',
} as const

const AddedRef = builder.objectRef<Bulk<Added>>('AddGroupMembersResult').implement({
  description: 'The result of adding contacts to a group. Fewer than 100 are added at once, more by a job.',
  fields: (t) => ({
    added: t.int({
      nullable: true,
      description: `The number of contacts that became members; ${jobInstead}`,
      resolve: ({ done }) => done?.added,
    }),
    alreadyInGroup: t.int({
      nullable: true,
      description: `The number of contacts that were already members; ${jobInstead}`,
      resolve: ({ done }) => done?.alreadyInGroup,
    }),
    notFound: t.int({
      nullable: true,
      description: `The number of ids that are no contact of the workspace; ${jobInstead}`,
      resolve: ({ done }) => done?.notFound,
    }),
    total: t.int({
      nullable: true,
      description: `The number of distinct ids in the request; ${jobInstead}`,
      resolve: ({ done }) => done && done.added + done.alreadyInGroup + done.notFound,
    }),
    job: t.field({ ...jobOf, resolve: ({ job }) => job }),
  }),
})

const RemovedRef = builder.objectRef<Removed>('RemoveGroupMembersResult').implement({
  description: 'The result of removing contacts from a group.',
  fields: (t) => ({
    removed: t.exposeInt('removed', { description: 'The number of contacts that were removed.' }),
    notFound: t.exposeInt('notFound', { description: 'The number of ids that are no member of the group.' }),
    total: t.int({
      description: 'The number of distinct ids in the request.',
      resolve: ({ removed, notFound }) => removed + notFound,
    }),
  }),
})

const DeletedContactsRef = builder.objectRef<Bulk<Deleted>>('BulkDeleteContactsResult').implement({
  description: 'The result of deleting contacts. Fewer than 100 are deleted at once, more by a job.',
  fields: (t) => ({
    requested: t.int({
      nullable: true,
      description: `The number of distinct ids in the request; ${jobInstead}`,
      resolve: ({ done }) => done?.requested,
    }),
    deleted: t.int({
      nullable: true,
      description: `The number of contacts that were deleted; ${jobInstead}`,
      resolve: ({ done }) => done?.deleted,
    }),
    notFound: t.idList({
      // From 100 ids on, a job deletes the contacts and this list is empty.
      extensions: { items: 100 },
      description:
        'The ids that are no contact of the workspace; empty if a job processes the request, whose `summary` counts them.',
      resolve: ({ done }) => done?.notFound ?? [],
    }),
    job: t.field({ ...jobOf, resolve: ({ job }) => job }),
  }),
})

const { connection: BulkJobConnection } = connectionOf(BulkJobRef, ['QueryBulkJobsConnection'])

builder.queryFields((t) => ({
  bulkJob: t.field({
    type: BulkJobRef,
    nullable: true,
    description: 'One bulk job.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => readBulkJob(ctx, parse(uuid, id, 'id')),
  }),
  bulkJobs: t.connection(
    {
      type: BulkJobRef,
      extensions: { page: 20 },
      description: `The bulk jobs of the workspace, newest first; 20 a page, at most 100. The cursor of a job is its id. A job is kept for ${keptForDays} days after its end.`,
      resolve: (_, args, ctx) => pageOfBulkJobs(ctx, args),
    },
    BulkJobConnection,
  ),
}))

builder.mutationFields((t) => {
  const groupId = t.arg.id({ required: true, description: 'The group.' })
  const contactIds = t.arg.idList({
    required: true,
    description: 'The contacts, 1 to 10,000 distinct ids; duplicates are ignored.',
  })
  return {
    addGroupMembers: t.field({
      type: AddedRef,
      description: 'Adds contacts to a group; 100 and more are added by a job.',
      errors: ['NOT_FOUND', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { groupId, contactIds },
      resolve: (_, args, ctx) => addGroupMembers(ctx, ...groupAndIds(args)),
    }),
    removeGroupMembers: t.field({
      type: RemovedRef,
      description: 'Removes contacts from a group at once.',
      errors: ['NOT_FOUND'],
      args: { groupId, contactIds },
      resolve: (_, args, ctx) => removeGroupMembers(ctx, ...groupAndIds(args)),
    }),
    bulkDeleteContacts: t.field({
      type: DeletedContactsRef,
      description: 'Deletes contacts and removes them from their groups; 100 and more are deleted by a job. Their messages stay.',
      args: { contactIds },
      resolve: (_, args, ctx) => bulkDeleteContacts(ctx, distinctIds(args.contactIds)),
    }),
    cancelBulkJob: t.field({
      type: BulkJobRef,
      description: 'Cancels a bulk job that has not ended; the contacts already processed stay as they are.',
      errors: ['NOT_FOUND', 'INVALID_STATE'],
      args: { id: t.arg.id({ required: true, description: 'The job.' }) },
      resolve: (_, { id }, ctx) => cancelBulkJob(ctx, parse(uuid, id, 'id')),
    }),
  }
})

builder.subscriptionField('bulkJob', (t) =>
  t.field({
    type: BulkJobRef,
    description: 'The progress of a bulk job: now, and after every change.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    subscribe: (_, args, ctx) => followOne('bulkJob', args.id, (id) => readBulkJob(ctx, id)),
    resolve: (_, { id }, ctx) => readBulkJob(ctx, parse(uuid, id, 'id')),
  }),
)
