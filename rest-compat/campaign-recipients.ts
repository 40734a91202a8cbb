// REST routes of the recipients of campaigns.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { type FileRoute, found, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

const ListCampaignRecipients = graphql(`
  query ListCampaignRecipients($id: ID!, $status: CampaignRecipientStatus, $first: Int!, $after: String) {
    campaign(id: $id) {
      recipients(status: $status, first: $first, after: $after) {
        nodes {
          to
          contactId
          messageId
          status
          error
          updatedAt
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`)

const recipientRecord = z.object({
  to: z.string(),
  contactId: z.uuid().nullable(),
  messageId: z.uuid().nullable(),
  status: z.string(),
  error: z.string().nullable(),
  updatedAt: z.iso.datetime(),
})

const recipientStatuses = ['planned', 'queued', 'sent', 'delivered', 'read', 'failed', 'cancelled'] as const

export const recipientFiles: FileRoute[] = [
  {
    method: 'GET',
    path: '/campaigns/:id/recipients.csv',
    summary: 'Export the recipients of a campaign as CSV',
    description:
      "All recipients in the order of sending, as a stream: UTF-8, with commas, and a line of titles. A cell that a spreadsheet would execute has a `'` before it; that includes numbers, which begin with `+`.",
    operationId: 'exportCampaignRecipients',
    errors: [],
    surfaces: ['public', 'console'],
    scope: 'workspace',
    transfer: 'recipients',
    status: 200,
    columns: Object.keys(recipientRecord.shape),
  },
]

export const recipientRoutes = [
  row('GET', '/campaigns/:id/recipients', {
    summary: 'List the recipients of a campaign, each with its status',
    operationId: 'campaignRecipients',
    document: ListCampaignRecipients,
    query: z.object({
      ...listQuery(20),
      status: z.enum(recipientStatuses).optional().describe('Only recipients with this status.'),
    }),
    renames: pageNames,
    variables: ({ params, query: { limit, cursor, status } }) => ({
      id: params.id as string,
      status,
      first: limit,
      after: cursor,
    }),
    project: (data) => pageOf('recipients', found(data.campaign).recipients),
    answer: pageAnswer('recipients', recipientRecord),
  }),
]
