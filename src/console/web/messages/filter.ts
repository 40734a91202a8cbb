// The filters of the list, as they stand in the address and as the gateway takes them.
import type { LiveRowFragment, MessageDirection, MessageFilter, MessageStatus } from '../generated/messages/graphql.ts'
import { messageTypes } from '../graph/message-types.ts'
import type { Search } from '../navigation.tsx'

export const statuses: MessageStatus[] = ['queued', 'sending', 'sent', 'delivered', 'read', 'failed', 'cancelled', 'received']
export const directions: MessageDirection[] = ['outbound', 'inbound']

function oneOf<Value extends string>(values: readonly Value[], value: string | undefined): Value | undefined {
  return values.find((known) => known === value)
}

/** The statuses that an address asks for, `failed,cancelled` among them. */
export function statusesIn(value: string | undefined): MessageStatus[] {
  const asked = value?.split(',') ?? []
  return statuses.filter((status) => asked.includes(status))
}

/** The filter in the address. A value that its field does not have is left out; the gateway refuses an unknown id or code in words. */
export function filterOf({
  status,
  direction,
  type,
  instance,
  number,
  from,
  until,
  campaign,
  contact,
  code,
  text,
}: Search): MessageFilter {
  const [first, ...others] = statusesIn(status)
  const filter: MessageFilter = {
    ...(others.length > 0 && first ? { statuses: [first, ...others] } : { status: first }),
    direction: oneOf(directions, direction),
    type: oneOf(messageTypes, type),
    instanceId: instance || undefined,
    phone: number || undefined,
    createdFrom: from || undefined,
    createdTo: until || undefined,
    campaignId: campaign || undefined,
    contactId: contact || undefined,
    errorCode: (code || undefined) as MessageFilter['errorCode'],
    text: text || undefined,
  }
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined))
}

/** True if the list would show a message. */
export function fits(filter: MessageFilter, message: LiveRowFragment): boolean {
  const { status, statuses: several, direction, type, instanceId, phone, createdFrom, createdTo, campaignId } = filter
  const { contactId, errorCode, text } = filter
  return (
    (!status || message.status === status) &&
    (!several || several.includes(message.status)) &&
    (!direction || message.direction === direction) &&
    (!type || message.type === type) &&
    (!instanceId || message.instanceId === instanceId) &&
    (!phone || message.to === phone || message.from === phone) &&
    (!createdFrom || message.createdAt >= createdFrom) &&
    (!createdTo || message.createdAt < createdTo) &&
    (!campaignId || message.campaignId === campaignId) &&
    (!contactId || message.contactId === contactId) &&
    (!errorCode || message.errorCode === errorCode) &&
    (!text || (message.body ?? '').toLowerCase().includes(text.toLowerCase()))
  )
}

/** The query of the REST route that exports the same messages. */
export function exportQuery(filter: MessageFilter): string {
  return new URLSearchParams(filter as Record<string, string>).toString()
}
