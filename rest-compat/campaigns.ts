// REST routes of campaigns.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { bodyAsInput, byId, byIdWithInput, byPage, found, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

graphql(`
  fragment CampaignRecord on Campaign {
    id
    userId
    instanceId
    name
    type
    templateId
    status
    recipientsCount
    scheduledFor
    createdAt
    updatedAt
  }
`)

const CreateCampaign = graphql(`
  mutation CreateCampaign($input: CreateCampaignInput!) {
    createCampaign(input: $input) {
      ...CampaignRecord
    }
  }
`)

const ListCampaigns = graphql(`
  query ListCampaigns($first: Int!, $after: String) {
    campaigns(first: $first, after: $after) {
      nodes {
        ...CampaignRecord
      }
      pageInfo {
        endCursor
        hasNextPage
      }
    }
  }
`)

const GetCampaign = graphql(`
  query GetCampaign($id: ID!) {
    campaign(id: $id) {
      ...CampaignRecord
    }
  }
`)

const GetCampaignStats = graphql(`
  query GetCampaignStats($id: ID!) {
    campaign(id: $id) {
      stats {
        campaignId
        status
        stats {
          total
          planned
          queued
          sent
          delivered
          read
          failed
          cancelled
        }
        progressPercent
        timeline {
          scheduledFor
          processingStartedAt
          lastEnqueuedAt
          completedAt
          cancelledAt
          lastActivityAt
        }
      }
    }
  }
`)

const UpdateCampaign = graphql(`
  mutation UpdateCampaign($id: ID!, $input: UpdateCampaignInput!) {
    updateCampaign(id: $id, input: $input) {
      ...CampaignRecord
    }
  }
`)

const PauseCampaign = graphql(`
  mutation PauseCampaign($id: ID!) {
    pauseCampaign(id: $id) {
      ...CampaignRecord
    }
  }
`)

const ResumeCampaign = graphql(`
  mutation ResumeCampaign($id: ID!) {
    resumeCampaign(id: $id) {
      ...CampaignRecord
    }
  }
`)

const CancelCampaign = graphql(`
  mutation CancelCampaign($id: ID!) {
    cancelCampaign(id: $id) {
      ...CampaignRecord
    }
  }
`)

const campaignRecord = z.object({
  id: z.uuid(),
  userId: z.uuid(),
  instanceId: z.uuid(),
  name: z.string(),
  type: z.string(),
  templateId: z.uuid().nullable(),
  status: z.string(),
  recipientsCount: z.int(),
  scheduledFor: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})

const at = z.iso.datetime().nullable()

const statsRecord = z.object({
  campaignId: z.uuid(),
  status: z.string(),
  stats: z.object({
    total: z.int(),
    planned: z.int(),
    queued: z.int(),
    sent: z.int(),
    delivered: z.int(),
    read: z.int(),
    failed: z.int(),
    cancelled: z.int(),
  }),
  progressPercent: z.int(),
  timeline: z.object({
    scheduledFor: at,
    processingStartedAt: at,
    lastEnqueuedAt: at,
    completedAt: at,
    cancelledAt: at,
    lastActivityAt: at,
  }),
})

export const campaignRoutes = [
  row('GET', '/campaigns', {
    summary: 'List campaigns, newest first',
    document: ListCampaigns,
    query: z.object(listQuery(20)),
    renames: pageNames,
    variables: byPage,
    project: (data) => pageOf('campaigns', data.campaigns),
    answer: pageAnswer('campaigns', campaignRecord),
  }),
  row('POST', '/campaigns', {
    summary: 'Create a campaign: one message to up to 100000 distinct numbers',
    document: CreateCampaign,
    input: 'CreateCampaignInput',
    status: 201,
    bodyLimit: 16 * 1024 * 1024,
    values: 'campaign',
    variables: bodyAsInput,
    project: (data) => data.createCampaign,
    answer: campaignRecord,
  }),
  row('GET', '/campaigns/:id', {
    summary: 'Read a campaign',
    document: GetCampaign,
    variables: byId,
    project: (data) => data.campaign,
    answer: campaignRecord,
  }),
  row('PUT', '/campaigns/:id', {
    summary: 'Change the name, the rate and the quiet hours of a campaign',
    document: UpdateCampaign,
    input: 'UpdateCampaignInput',
    variables: byIdWithInput,
    project: (data) => data.updateCampaign,
    answer: campaignRecord,
  }),
  row('GET', '/campaigns/:id/stats', {
    summary: 'Read the progress of a campaign',
    document: GetCampaignStats,
    variables: byId,
    project: (data) => found(data.campaign).stats,
    answer: statsRecord,
  }),
  row('POST', '/campaigns/:id/pause', {
    summary: 'Pause a campaign',
    document: PauseCampaign,
    variables: byId,
    project: (data) => data.pauseCampaign,
    answer: campaignRecord,
  }),
  row('POST', '/campaigns/:id/resume', {
    summary: 'Resume a paused campaign',
    document: ResumeCampaign,
    variables: byId,
    project: (data) => data.resumeCampaign,
    answer: campaignRecord,
  }),
  row('POST', '/campaigns/:id/cancel', {
    summary: 'Cancel a campaign',
    document: CancelCampaign,
    variables: byId,
    project: (data) => data.cancelCampaign,
    answer: campaignRecord,
  }),
]
