// Builds the events of outbound messages. Webhooks and streams carry the same payload.
import type { NewEvent } from '../events/log/emit.ts'

export interface EventfulMessage {
  id: string
  workspaceId: string
  instanceId: string
  campaignId: string | null
  providerMessageId: string | null
  to: string
  error?: string | null
}

export function messageEvent(message: EventfulMessage, status: 'sent' | 'delivered' | 'read' | 'failed', at: Date): NewEvent {
  const { workspaceId, instanceId, campaignId, providerMessageId, to, error } = message
  const fields: NewEvent['fields'] = { instanceId, messageId: message.id, providerMessageId, to, status }
  if (status === 'failed') fields.error = error ?? null
  return { workspaceId, type: `message.${status}`, instanceId, messageId: message.id, campaignId, fields, at }
}
