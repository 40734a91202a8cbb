// The events of every domain, in the order in which callers see them: those of webhooks, and those that only live streams tell.
import { campaignChanged } from './campaigns/events.ts'
import { contactChanged } from './contacts/events.ts'
import { type EventDefinition, samplePayload } from './events/log/define.ts'
import { instanceConnected, instanceDisconnected } from './instances/events.ts'
import {
  messageCancelled,
  messageDelivered,
  messageFailed,
  messageQueued,
  messageRead,
  messageReceived,
  messageSent,
  messageUpdated,
} from './messages/events.ts'

export const eventDefinitions: readonly EventDefinition[] = [
  instanceConnected,
  instanceDisconnected,
  messageSent,
  messageDelivered,
  messageRead,
  messageFailed,
  messageReceived,
]

export const liveDefinitions: readonly EventDefinition[] = [
  messageQueued,
  messageCancelled,
  campaignChanged,
  contactChanged,
  messageUpdated,
]

/** Implements `hooks.sampleEvent`. */
export function sampleEvent(type: string, id: string, at: Date): object {
  const definition = eventDefinitions.find((one) => one.type === type)
  if (!definition) throw new Error(`no event type ${type}`)
  return samplePayload(definition, id, at)
}
