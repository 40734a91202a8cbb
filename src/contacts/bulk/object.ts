// GraphQL type of a bulk job: its operation and its progress.

import type { Context } from '../../core/context.ts'
import { builder } from '../../core/graph/builder.ts'
import { load } from '../../core/graph/load.ts'
import { BulkOperation, BulkStatus } from '../../generated/prisma/enums.ts'
import { ContactGroupRef } from '../groups/schema.ts'
import type { BulkJobRecord, BulkSummary } from './service.ts'

const BulkOperationRef = builder.enumType('BulkOperation', {
  description: 'What a bulk job does.',
  values: Object.values(BulkOperation),
})
const BulkStatusRef = builder.enumType('BulkStatus', {
  description: 'How far a bulk job is; `done`, `failed` and `cancelled` are its ends.',
  values: Object.values(BulkStatus),
})

const BulkSummaryRef = builder.objectRef<BulkSummary>('BulkSummary').implement({
  description: 'What a bulk job has done so far.',
  fields: (t) => ({
    added: t.int({
      nullable: true,
      description: 'Contacts that are members now and were none before; null where contacts are deleted.',
      resolve: (row) => ('added' in row ? row.added : null),
    }),
    alreadyInGroup: t.int({
      nullable: true,
      description: 'Contacts that were members already; null where contacts are deleted.',
      resolve: (row) => ('added' in row ? row.alreadyInGroup : null),
    }),
    deleted: t.int({
      nullable: true,
      description: 'Contacts that are gone; null where contacts are added to a group.',
      resolve: (row) => ('deleted' in row ? row.deleted : null),
    }),
    notFound: t.exposeInt('notFound', { description: 'Ids that are no contact of the workspace.' }),
  }),
})

export const BulkJobRef = builder.objectRef<BulkJobRecord>('BulkJob').implement({
  description: 'Something done to many contacts in the background, in chunks.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    operation: t.field({ type: BulkOperationRef, description: 'What it does.', resolve: (row) => row.operation }),
    status: t.field({ type: BulkStatusRef, description: 'How far it is.', resolve: (row) => row.status }),
    requestedCount: t.exposeInt('requestedCount', { description: 'How many contacts it is about.' }),
    processedCount: t.exposeInt('processedCount', { description: 'How many of them it has dealt with; it only rises.' }),
    progress: t.int({
      description: 'The same in percent, 0 to 100.',
      resolve: (row) => Math.floor((100 * row.processedCount) / row.requestedCount),
    }),
    groupId: t.exposeID('groupId', { nullable: true, description: 'The group; null where contacts are deleted.' }),
    group: t.field({
      type: ContactGroupRef,
      nullable: true,
      description: 'The group, as long as it is there; null where contacts are deleted.',
      resolve: ({ groupId }, _, ctx) => (groupId ? load(ctx, 'bulkJob.group', groupId, (ids) => readGroups(ctx, ids)) : null),
    }),
    summary: t.field({ type: BulkSummaryRef, description: 'What it has done so far.', resolve: (row) => row.summary }),
    error: t.exposeString('error', { nullable: true, description: 'Why it `failed`, an error code.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was asked for.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last went on.' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true, description: 'When it ended, in whichever way.' }),
  }),
})

async function readGroups({ app, principal }: Context, ids: readonly string[]) {
  const where = { id: { in: [...ids] }, workspaceId: principal.workspaceId }
  const groups = new Map((await app.db.contactGroup.findMany({ where })).map((group) => [group.id, group]))
  return ids.map((id) => groups.get(id) ?? null)
}
