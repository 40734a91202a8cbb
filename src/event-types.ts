// The events of every domain, in the order in which callers see them.
import { type EventDefinition, samplePayload } from './events/log/define.ts'
import { instanceConnected, instanceDisconnected } from './instances/events.ts'
import { messageDelivered, messageFailed, messageRead, messageReceived, messageSent } from './messages/events.ts'

export const eventDefinitions: readonly EventDefinition[] = [
  instanceConnected,
  instanceDisconnected,
  messageSent,
  messageDelivered,
  messageRead,
  messageFailed,
  messageReceived,
]

/** Implements `hooks.sampleEvent`. */
export function sampleEvent(type: string, id: string, at: Date): object {
  const definition = eventDefinitions.find((one) => one.type === type)
  if (!definition) throw new Error(`no event type ${type}`)
  return samplePayload(definition, id, at)
}
