// GraphQL type of a bulk job: its operation and its progress.
import type { Context } from '../../core/context.ts'
import { builder } from '../../core/graph/builder.ts'
import { loadFound } from '../../core/graph/load.ts'
import { BulkOperation, BulkStatus } from '../../generated/prisma/enums.ts'
import { ContactGroupRef } from '../groups/schema.ts'
import type { BulkJobRecord, BulkSummary, LineFault } from './service.ts'

const BulkOperationRef = builder.enumType('BulkOperation', {
  description: 'The operation of a bulk job.',
  values: Object.values(BulkOperation),
})
const BulkStatusRef = builder.enumType('BulkStatus', {
  description: 'The status of a bulk job; `done`, `failed` and `cancelled` are final.',
  values: Object.values(BulkStatus),
})

const LineFaultRef = builder.objectRef<LineFault>('ImportFault').implement({
  description: 'A fault of one line of an imported file.',
  fields: (t) => ({
    line: t.exposeInt('line', { description: 'The line; the line of the titles is 1.' }),
    field: t.exposeString('field', { description: 'The name of the field; `file` if the line cannot be read.' }),
    message: t.exposeString('message', { description: 'The fault, for people.' }),
  }),
})

/** A count of an import; null in the summary of another operation. */
function imported(name: 'created' | 'updated' | 'skipped') {
  return (row: BulkSummary) => ('invalid' in row ? row[name] : null)
}

const BulkSummaryRef = builder.objectRef<BulkSummary>('BulkSummary').implement({
  description: 'The results of a bulk job so far.',
  fields: (t) => ({
    added: t.int({
      nullable: true,
      description: 'Contacts that became members; null if contacts are deleted or imported.',
      resolve: (row) => ('added' in row ? row.added : null),
    }),
    alreadyInGroup: t.int({
      nullable: true,
      description: 'Contacts that were already members; null if contacts are deleted or imported.',
      resolve: (row) => ('added' in row ? row.alreadyInGroup : null),
    }),
    deleted: t.int({
      nullable: true,
      description: 'Contacts that were deleted; null for every other operation.',
      resolve: (row) => ('deleted' in row ? row.deleted : null),
    }),
    notFound: t.int({
      description: 'Ids that are no contact of the workspace; 0 in an import.',
      resolve: (row) => ('notFound' in row ? row.notFound : 0),
    }),
    created: t.int({ nullable: true, description: 'Contacts that an import created.', resolve: imported('created') }),
    updated: t.int({ nullable: true, description: 'Contacts that an import updated.', resolve: imported('updated') }),
    skipped: t.int({
      nullable: true,
      description: 'Lines of an import whose number is that of a contact, which was left as it is.',
      resolve: imported('skipped'),
    }),
    invalid: t.field({
      type: [LineFaultRef],
      extensions: { items: 100 },
      description: 'The first faults of an import, at most 100; empty for every other operation.',
      resolve: (row) => ('invalid' in row ? row.invalid : []),
    }),
  }),
})

export const BulkJobRef = builder.objectRef<BulkJobRecord>('BulkJob').implement({
  description: 'A change to many contacts, or an import of contacts, processed in the background in chunks.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    operation: t.field({ type: BulkOperationRef, description: 'The operation of the job.', resolve: (row) => row.operation }),
    status: t.field({ type: BulkStatusRef, description: 'Its progress.', resolve: (row) => row.status }),
    requestedCount: t.exposeInt('requestedCount', {
      description: 'The number of contacts to process; 0 until the file of an import was read.',
    }),
    processedCount: t.exposeInt('processedCount', { description: 'The number of contacts processed so far.' }),
    progress: t.int({
      description: 'The same in percent, 0 to 100.',
      resolve: progressOf,
    }),
    groupId: t.exposeID('groupId', { nullable: true, description: "The group's id; null if the job adds contacts to none." }),
    group: t.field({
      type: ContactGroupRef,
      nullable: true,
      description: 'The group; null if it was deleted, or if the job adds contacts to none.',
      resolve: ({ groupId }, _, ctx) =>
        groupId ? loadFound(ctx, 'bulkJob.group', groupId, null, (ids) => readGroups(ctx, ids)) : null,
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

function progressOf({ requestedCount, processedCount, status }: BulkJobRecord): number {
  if (requestedCount === 0) return status === 'done' ? 100 : 0
  return Math.floor((100 * processedCount) / requestedCount)
}

async function readGroups({ app, principal }: Context, ids: readonly string[]) {
  const where = { id: { in: [...ids] }, workspaceId: principal.workspaceId }
  return new Map((await app.db.contactGroup.findMany({ where })).map((group) => [group.id, group]))
}
