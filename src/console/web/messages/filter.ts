// The filters of the list, as they stand in the address and as the gateway takes them.

import type { LiveRowFragment, MessageDirection, MessageFilter, MessageStatus } from '../generated/messages/graphql.ts'
import { messageTypes } from '../graph/message-types.ts'
import type { Search } from '../navigation.tsx'

export const statuses: MessageStatus[] = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'cancelled', 'received']
export const directions: MessageDirection[] = ['outbound', 'inbound']

function oneOf<Value extends string>(values: readonly Value[], value: string | undefined): Value | undefined {
  return values.find((known) => known === value)
}

/** The filter in the address. A value that its field does not have is left out. */
export function filterOf({ status, direction, type, instance, number }: Search): MessageFilter {
  const filter: MessageFilter = {
    status: oneOf(statuses, status),
    direction: oneOf(directions, direction),
    type: oneOf(messageTypes, type),
    instanceId: instance || undefined,
    to: number || undefined,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** True if the list would show a message. */
export function fits(filter: MessageFilter, message: LiveRowFragment): boolean {
  const { status, direction, type, instanceId, to } = filter
  return (
    (!status || message.status === status) &&
    (!direction || message.direction === direction) &&
    (!type || message.type === type) &&
    (!instanceId || message.instanceId === instanceId) &&
    (!to || message.to === to || message.from === to)
  )
}

/** The query of the REST route that exports the same messages. */
export function exportQuery(filter: MessageFilter): string {
  return new URLSearchParams(filter as Record<string, string>).toString()
}
