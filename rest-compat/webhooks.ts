// REST routes of webhook endpoints.
import { z } from 'zod'
import { graphql } from './generated/gql.ts'
import { byId, deletedAnswer, found, listQuery, pageAnswer, pageNames, pageOf, row } from './route.ts'

graphql(`
  fragment WebhookRecord on WebhookEndpoint {
    id
    url
    events
    createdAt
  }
`)

graphql(`
  fragment DeliveryRecord on WebhookDelivery {
    id
    eventId
    event
    test
    status
    attempts
    responseCode
    error
    nextAttemptAt
    lastAttemptAt
    deliveredAt
    createdAt
  }
`)

const ListWebhooks = graphql(`
  query ListWebhooks {
    webhooks {
      ...WebhookRecord
    }
  }
`)

const GetWebhook = graphql(`
  query GetWebhook($id: ID!) {
    webhook(id: $id) {
      ...WebhookRecord
      disabledAt
    }
  }
`)

const CreateWebhook = graphql(`
  mutation CreateWebhook($input: CreateWebhookInput!) {
    createWebhook(input: $input) {
      ...WebhookRecord
      secret
    }
  }
`)

const UpdateWebhook = graphql(`
  mutation UpdateWebhook($id: ID!, $input: UpdateWebhookInput!) {
    updateWebhook(id: $id, input: $input) {
      ...WebhookRecord
    }
  }
`)

const DeleteWebhook = graphql(`
  mutation DeleteWebhook($id: ID!) {
    deleteWebhook(id: $id) {
      id
      deleted
    }
  }
`)

const RotateSecret = graphql(`
  mutation RotateSecret($id: ID!) {
    rotateWebhookSecret(id: $id) {
      ...WebhookRecord
      secret
    }
  }
`)

const TestWebhook = graphql(`
  mutation TestWebhook($id: ID!) {
    testWebhook(id: $id) {
      ...DeliveryRecord
    }
  }
`)

const ListDeliveries = graphql(`
  query ListDeliveries($id: ID!, $first: Int!, $after: String, $status: DeliveryStatus) {
    webhook(id: $id) {
      deliveries(first: $first, after: $after, status: $status) {
        nodes {
          ...DeliveryRecord
        }
        pageInfo {
          endCursor
          hasNextPage
        }
      }
    }
  }
`)

const Redeliver = graphql(`
  mutation Redeliver($id: ID!, $deliveryId: ID!) {
    redeliver(webhookId: $id, deliveryId: $deliveryId) {
      ...DeliveryRecord
    }
  }
`)

const webhookRecord = z.object({ id: z.uuid(), url: z.string(), events: z.array(z.string()), createdAt: z.iso.datetime() })
const oneWebhook = webhookRecord
  .extend({ disabledAt: z.iso.datetime().nullable().describe('When deliveries were stopped; null if they are not.') })
  .meta({ id: 'WebhookEndpointDetails' })
const withSecret = webhookRecord
  .extend({ secret: z.string().describe('The signing secret. Only this response contains it.') })
  .meta({ id: 'WebhookEndpointWithSecret' })
const deliveryRecord = z.object({
  id: z.uuid(),
  eventId: z.uuid(),
  event: z.string(),
  test: z.boolean(),
  status: z.string(),
  attempts: z.int(),
  responseCode: z.int().nullable(),
  error: z.string().nullable(),
  nextAttemptAt: z.iso.datetime().nullable(),
  lastAttemptAt: z.iso.datetime().nullable(),
  deliveredAt: z.iso.datetime().nullable(),
  createdAt: z.iso.datetime(),
})

/** GraphQL names cannot contain a dot: `message_sent` there is `message.sent` here. */
function dotted(name: string): string {
  return name.replace('_', '.')
}

function webhookOf<Row extends { events: string[] }>(webhook: Row) {
  return { ...webhook, events: webhook.events.map(dotted) }
}

function deliveryOf<Row extends { event: string }>(delivery: Row) {
  return { ...delivery, event: dotted(delivery.event) }
}

/** Converts event names to GraphQL names. Other values stay as they are, so that the validation error shows what the caller wrote. */
function graphInput(body: Record<string, unknown>): never {
  const { events } = body
  if (!Array.isArray(events)) return body as never
  return { ...body, events: events.map((name) => (typeof name === 'string' ? name.replace('.', '_') : name)) } as never
}

export const webhookRoutes = [
  row('GET', '/webhooks', {
    summary: 'List webhook endpoints',
    document: ListWebhooks,
    variables: () => ({}),
    project: (data) => data.webhooks.map(webhookOf),
    answer: z.array(webhookRecord),
  }),
  row('POST', '/webhooks', {
    summary: 'Create a webhook endpoint',
    document: CreateWebhook,
    input: 'CreateWebhookInput',
    status: 201,
    variables: ({ body }) => ({ input: graphInput(body) }),
    project: (data) => webhookOf(data.createWebhook),
    answer: withSecret,
  }),
  row('GET', '/webhooks/:id', {
    summary: 'Read a webhook endpoint',
    document: GetWebhook,
    variables: byId,
    project: (data) => webhookOf(found(data.webhook)),
    answer: oneWebhook,
  }),
  row('PUT', '/webhooks/:id', {
    summary: 'Update a webhook endpoint',
    document: UpdateWebhook,
    input: 'UpdateWebhookInput',
    variables: ({ params, body }) => ({ id: params.id as string, input: graphInput(body) }),
    project: (data) => webhookOf(data.updateWebhook),
    answer: webhookRecord,
  }),
  row('DELETE', '/webhooks/:id', {
    summary: 'Delete a webhook endpoint',
    document: DeleteWebhook,
    variables: byId,
    project: (data) => data.deleteWebhook,
    answer: deletedAnswer,
  }),
  row('POST', '/webhooks/:id/rotate-secret', {
    summary: 'Rotate the secret of a webhook endpoint',
    document: RotateSecret,
    variables: byId,
    project: (data) => webhookOf(data.rotateWebhookSecret),
    answer: withSecret,
  }),
  row('POST', '/webhooks/:id/test', {
    summary: 'Deliver a test event',
    document: TestWebhook,
    variables: byId,
    project: (data) => deliveryOf(data.testWebhook),
    answer: deliveryRecord,
  }),
  row('GET', '/webhooks/:id/deliveries', {
    summary: 'List the deliveries of a webhook endpoint',
    document: ListDeliveries,
    query: z.object({
      ...listQuery(20),
      status: z.enum(['pending', 'delivered', 'retrying', 'failed']).optional().describe('Only deliveries with this status.'),
    }),
    renames: pageNames,
    variables: ({ params, query: { limit, cursor, status } }) => ({
      id: params.id as string,
      first: limit,
      after: cursor,
      status,
    }),
    project: (data) => {
      const { nodes, pageInfo } = found(data.webhook).deliveries
      return pageOf('deliveries', { nodes: nodes.map((node) => node && deliveryOf(node)), pageInfo })
    },
    answer: pageAnswer('deliveries', deliveryRecord),
  }),
  row('POST', '/webhooks/:id/deliveries/:deliveryId/redeliver', {
    summary: 'Deliver an event again',
    document: Redeliver,
    renames: { webhookId: 'id' },
    variables: ({ params }) => ({ id: params.id as string, deliveryId: params.deliveryId as string }),
    project: (data) => deliveryOf(data.redeliver),
    answer: deliveryRecord,
  }),
]
