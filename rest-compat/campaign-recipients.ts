// REST routes of the recipients of campaigns.
import { z } from 'zod'
import { exportOf } from './export.ts'
import { graphql } from './generated/gql.ts'
import { found, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

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

export const recipientExport = exportOf({
  path: '/campaigns/:id/recipients.csv',
  summary: 'Export the recipients of a campaign as CSV',
  description:
    'Streams all recipients in the order of sending as CSV in UTF-8. The columns are the fields of the record. A cell that a spreadsheet would execute begins with an apostrophe; that includes numbers, which begin with `+`.',
  operationId: 'exportCampaignRecipients',
  file: 'recipients',
  query: z.object({}),
  list: {
    document: ListCampaignRecipients,
    variables: ({ params, page }) => ({ id: params.id as string, ...page }),
    page: (data) => found(data.campaign).recipients,
  },
  record: recipientRecord,
})

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
