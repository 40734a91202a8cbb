// REST routes of bulk operations on contacts.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { jobAccepted, jobItem, jobRecord } from './job-records.ts'
import { byPage, found, listQuery, once, pageAnswer, pageNames, pageOf, row } from './route.ts'

graphql(`
  fragment BulkJobItem on BulkJob {
    id
    operation
    status
    requestedCount
    processedCount
    progress
    groupId
    summary {
      added
      alreadyInGroup
      deleted
      notFound
      created
      updated
      skipped
      invalid {
        line
        field
        message
      }
    }
    createdAt
    updatedAt
    completedAt
  }
`)

const AddGroupMembers = graphql(`
  mutation AddGroupMembers($groupId: ID!, $contactIds: [ID!]!) {
    addGroupMembers(groupId: $groupId, contactIds: $contactIds) {
      added
      alreadyInGroup
      notFound
      total
      job {
        ...BulkJobItem
      }
    }
  }
`)

const RemoveGroupMembers = graphql(`
  mutation RemoveGroupMembers($groupId: ID!, $contactIds: [ID!]!) {
    removeGroupMembers(groupId: $groupId, contactIds: $contactIds) {
      removed
      notFound
      total
    }
  }
`)

const BulkDeleteContacts = graphql(`
  mutation BulkDeleteContacts($contactIds: [ID!]!) {
    bulkDeleteContacts(contactIds: $contactIds) {
      requested
      deleted
      notFound
      job {
        ...BulkJobItem
      }
    }
  }
`)

const ListBulkJobs = graphql(`
  query ListBulkJobs($first: Int!, $after: String) {
    bulkJobs(first: $first, after: $after) {
      nodes {
        ...BulkJobItem
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const GetBulkJob = graphql(`
  query GetBulkJob($id: ID!) {
    bulkJob(id: $id) {
      ...BulkJobItem
      error
    }
  }
`)

const CancelBulkJob = graphql(`
  mutation CancelBulkJob($id: ID!) {
    cancelBulkJob(id: $id) {
      ...BulkJobItem
      error
    }
  }
`)

interface Job {
  id: string
  operation: string
  status: string
  requestedCount: number
  progress: number
  groupId?: string | null
  summary: object
}

/** A job in REST format: fields that do not belong to its operation are left out. */
function jobOf<Record extends Job>({ groupId, summary, ...job }: Record) {
  const foreign = job.operation === 'import_contacts' ? 'notFound' : 'invalid'
  const own = Object.entries(summary).filter(([name, value]) => value !== null && name !== foreign)
  return { ...job, ...(groupId && { groupId }), summary: Object.fromEntries(own) }
}

function acceptedOf({ id, status, operation, requestedCount, groupId, progress }: Job) {
  const message = `${requestedCount} contacts are processed in the background; read the progress every 2 seconds`
  return { mode: 'async', jobId: id, status, operation, requestedCount, ...(groupId && { groupId }), progress, message }
}

const byJob = ({ params }: { params: Record<string, string> }) => ({ id: params.jobId as string })
const ofJob = { renames: { id: 'jobId' } }

export const contactJobRoutes = [
  row('POST', '/contacts/groups/:groupId/members', {
    summary: 'Add contacts to a group',
    document: AddGroupMembers,
    input: 'ContactIds',
    variables: ({ params, body }) => ({ groupId: params.groupId as string, contactIds: body.contactIds as string[] }),
    project: ({ addGroupMembers: { job, ...counts } }) => (job ? acceptedOf(job) : counts),
    answer: z.object({
      added: z.int().describe('The number of contacts that became members.'),
      alreadyInGroup: z.int().describe('The number of contacts that were already members.'),
      notFound: z.int().describe('The number of ids that are no contact of the workspace.'),
      total: z.int().describe('The number of distinct ids in the request.'),
    }),
    otherAnswer: { when: ({ addGroupMembers }) => addGroupMembers.job !== null, answer: jobAccepted },
  }),
  row('DELETE', '/contacts/groups/:groupId/members', {
    summary: 'Remove contacts from a group',
    document: RemoveGroupMembers,
    input: 'ContactIds',
    variables: ({ params, body }) => ({ groupId: params.groupId as string, contactIds: body.contactIds as string[] }),
    project: (data) => data.removeGroupMembers,
    answer: z.object({ removed: z.int(), notFound: z.int(), total: z.int() }),
  }),
  row('POST', '/contacts/bulk-delete', {
    summary: 'Delete contacts',
    document: BulkDeleteContacts,
    input: 'ContactIds',
    variables: ({ body }) => ({ contactIds: body.contactIds as string[] }),
    project: ({ bulkDeleteContacts: { job, ...counts } }) => (job ? acceptedOf(job) : counts),
    answer: z.object({
      requested: z.int().describe('The number of distinct ids in the request.'),
      deleted: z.int().describe('The number of contacts that were deleted.'),
      notFound: z.array(z.uuid()),
    }),
    otherAnswer: { when: ({ bulkDeleteContacts }) => bulkDeleteContacts.job !== null, answer: jobAccepted },
  }),
  row('GET', '/contacts/bulk-jobs', {
    summary: 'List bulk jobs, newest first',
    document: ListBulkJobs,
    query: z.object({
      ...listQuery(20),
      cursor: once.meta({ format: 'uuid' }).optional().describe('The id of the last job of the previous page.'),
    }),
    renames: pageNames,
    variables: byPage,
    project: ({ bulkJobs }) => pageOf('jobs', { ...bulkJobs, nodes: bulkJobs.nodes.flatMap((job) => (job ? [jobOf(job)] : [])) }),
    answer: pageAnswer('jobs', jobItem),
  }),
  row('GET', '/contacts/bulk-jobs/:jobId', {
    summary: 'Read a bulk job',
    document: GetBulkJob,
    ...ofJob,
    variables: byJob,
    project: (data) => jobOf(found(data.bulkJob)),
    answer: jobRecord,
  }),
  row('GET', '/contacts/bulk-jobs/:jobId/progress', {
    summary: 'Read the progress of a bulk job',
    operationId: 'bulkJobProgress',
    document: GetBulkJob,
    ...ofJob,
    variables: byJob,
    project: (data) => jobOf(found(data.bulkJob)),
    answer: jobRecord,
  }),
  row('POST', '/contacts/bulk-jobs/:jobId/cancel', {
    summary: 'Cancel a bulk job',
    document: CancelBulkJob,
    ...ofJob,
    variables: byJob,
    project: (data) => jobOf(data.cancelBulkJob),
    answer: jobRecord,
  }),
]
