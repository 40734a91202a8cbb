// The types of events. A test compares them with those of the gateway.
import type { EventType } from '../generated/graph/graphql.ts'

/** All types: a request without types gets only those that webhooks receive. */
export const everyType: EventType[] = [
  'campaign_changed',
  'contact_changed',
  'instance_connected',
  'instance_disconnected',
  'message_cancelled',
  'message_delivered',
  'message_failed',
  'message_queued',
  'message_read',
  'message_received',
  'message_sent',
  'message_updated',
]

/** Those that webhooks can receive, in the order in which the form of an endpoint shows them. */
export const webhookEvents: readonly EventType[] = [
  'message_sent',
  'message_delivered',
  'message_read',
  'message_failed',
  'message_received',
  'instance_connected',
  'instance_disconnected',
]
