// GraphQL type of a bulk job: its operation and its progress.

import type { Context } from '../../core/context.ts'
import { builder } from '../../core/graph/builder.ts'
import { load } from '../../core/graph/load.ts'
import { BulkOperation, BulkStatus } from '../../generated/prisma/enums.ts'
import { ContactGroupRef } from '../groups/schema.ts'
import type { BulkJobRecord, BulkSummary } from './service.ts'

const BulkOperationRef = builder.enumType('BulkOperation', {
  description: 'The operation of a bulk job.',
  values: Object.values(BulkOperation),
})
const BulkStatusRef = builder.enumType('BulkStatus', {
  description: 'The status of a bulk job; `done`, `failed` and `cancelled` are final.',
  values: Object.values(BulkStatus),
})

const BulkSummaryRef = builder.objectRef<BulkSummary>('BulkSummary').implement({
  description: 'The results of a bulk job so far.',
  fields: (t) => ({
    added: t.int({
      nullable: true,
      description: 'Contacts that became members; null if contacts are deleted.',
      resolve: (row) => ('added' in row ? row.added : null),
    }),
    alreadyInGroup: t.int({
      nullable: true,
      description: 'Contacts that were already members; null if contacts are deleted.',
      resolve: (row) => ('added' in row ? row.alreadyInGroup : null),
    }),
    deleted: t.int({
      nullable: true,
      description: 'Contacts that were deleted; null if contacts are added to a group.',
      resolve: (row) => ('deleted' in row ? row.deleted : null),
    }),
    notFound: t.exposeInt('notFound', { description: 'Ids that are no contact of the workspace.' }),
  }),
})

export const BulkJobRef = builder.objectRef<BulkJobRecord>('BulkJob').implement({
  description: 'A change to many contacts, processed in the background in chunks.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    operation: t.field({ type: BulkOperationRef, description: 'The operation of the job.', resolve: (row) => row.operation }),
    status: t.field({ type: BulkStatusRef, description: 'Its progress.', resolve: (row) => row.status }),
    requestedCount: t.exposeInt('requestedCount', { description: 'The number of contacts to process.' }),
    processedCount: t.exposeInt('processedCount', { description: 'The number of contacts processed so far.' }),
    progress: t.int({
      description: 'The same in percent, 0 to 100.',
      resolve: (row) => Math.floor((100 * row.processedCount) / row.requestedCount),
    }),
    groupId: t.exposeID('groupId', { nullable: true, description: "The group's id; null if contacts are deleted." }),
    group: t.field({
      type: ContactGroupRef,
      nullable: true,
      description: 'The group; null if it was deleted, or if contacts are deleted.',
      resolve: ({ groupId }, _, ctx) => (groupId ? load(ctx, 'bulkJob.group', groupId, (ids) => readGroups(ctx, ids)) : null),
    }),
    summary: t.field({ type: BulkSummaryRef, description: 'Its results so far.', resolve: (row) => row.summary }),
    error: t.exposeString('error', { nullable: true, description: 'Why it `failed`, as an error code.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was requested.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last made progress.' }),
    completedAt: t.expose('completedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ended with any final status.',
    }),
  }),
})

async function readGroups({ app, principal }: Context, ids: readonly string[]) {
  const where = { id: { in: [...ids] }, workspaceId: principal.workspaceId }
  const groups = new Map((await app.db.contactGroup.findMany({ where })).map((group) => [group.id, group]))
  return ids.map((id) => groups.get(id) ?? null)
}
