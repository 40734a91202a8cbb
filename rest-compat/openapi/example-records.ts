// Example records of the OpenAPI document by schema name, with the ids of the demo account.
import type { DemoIds } from './example.ts'
import { peopleRecords } from './examples-people.ts'

const messageId = '01980000-0000-7000-8000-00000000000a'
const userId = '01980000-0000-7000-8000-00000000000b'
const campaignId = '01980000-0000-7000-8000-00000000000c'
const webhookId = '01980000-0000-7000-8000-00000000000d'
const eventId = '01980000-0000-7000-8000-00000000000e'
const at = '2026-01-31T10:00:00.000Z'
const later = '2026-01-31T10:00:01.250Z'
const made = { createdAt: at, updatedAt: at }
const to = '+4915112345678'

export function exampleRecords({ instanceId, contactId, groupId, templateId }: DemoIds): Record<string, unknown> {
  const endpoint = {
    id: webhookId,
    url: 'https://example.com/hook',
    events: ['message.sent', 'message.delivered'],
    createdAt: at,
  }
  const delivered = { id: eventId, event: 'message.delivered', instanceId, messageId, providerMessageId: 'wamid.HBgM', to }
  return {
    ...peopleRecords,
    Message: {
      id: messageId,
      userId,
      instanceId,
      contactId: null,
      campaignId: null,
      direction: 'outbound',
      type: 'text',
      from: '+393345103884',
      to,
      body: 'Hello',
      mediaUrl: null,
      status: 'queued',
      error: null,
      providerMessageId: null,
      warnings: [],
      safety: { decision: 'allow', riskLevel: 'low', state: 'stable', score: 100 },
      ...made,
    },
    Instance: {
      id: instanceId,
      name: 'Demo phone',
      waNumber: '+393345103884',
      status: 'connected',
      webhook: null,
      meta: null,
      deletedAt: null,
      ...made,
    },
    InstanceState: {
      instanceId,
      status: 'connected',
      connected: true,
      qr: null,
      pairingCode: null,
      lastConnectedAt: at,
      lastDisconnectedAt: null,
      lastError: null,
    },
    Contact: {
      id: contactId,
      name: 'Ada Lovelace',
      firstName: 'Ada',
      lastName: 'Lovelace',
      phone: to,
      email: null,
      tags: ['demo'],
      custom: { city: 'London' },
      ...made,
    },
    ContactGroup: { id: groupId, name: 'Customers', description: null, membersCount: 1, ...made },
    Template: {
      id: templateId,
      name: 'Order shipped',
      type: 'text',
      body: 'Hello {{contact.firstName}}, your order {{custom.order}} is on its way.',
      mediaUrl: null,
      cloud: { name: 'order_shipped', language: 'en', parameters: ['contact.firstName', 'custom.order'] },
      ...made,
    },
    Campaign: {
      id: campaignId,
      userId,
      instanceId,
      name: 'News',
      type: 'text',
      templateId: null,
      status: 'running',
      recipientsCount: 1000,
      scheduledFor: null,
      ...made,
    },
    CampaignStats: {
      campaignId,
      status: 'running',
      stats: { total: 1000, planned: 600, queued: 20, sent: 30, delivered: 200, read: 145, failed: 5, cancelled: 0 },
      progressPercent: 38,
      timeline: {
        scheduledFor: null,
        processingStartedAt: at,
        lastEnqueuedAt: later,
        completedAt: null,
        cancelledAt: null,
        lastActivityAt: later,
      },
    },
    WebhookEndpoint: endpoint,
    WebhookEndpointDetails: { ...endpoint, disabledAt: null },
    WebhookEndpointWithSecret: { ...endpoint, secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw2oKyPbVn3nA=' },
    WebhookDelivery: {
      id: '01980000-0000-7000-8000-00000000000f',
      eventId,
      event: 'message.delivered',
      test: false,
      status: 'delivered',
      attempts: 1,
      responseCode: 200,
      error: null,
      nextAttemptAt: null,
      lastAttemptAt: later,
      deliveredAt: later,
      createdAt: at,
    },
    MessageDeliveredEvent: { ...delivered, status: 'delivered', timestamp: at },
  }
}
