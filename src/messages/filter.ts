// Input MessageFilter: the filters of lists of messages, as conditions on columns.
import { z } from 'zod'
import { dayMs } from '../core/durations.ts'
import { defineInput, registerEnum } from '../core/graph/input.ts'
import type { Condition } from '../core/graph/list.sql.ts'
import { phone } from '../core/phone.ts'
import { moment, text, uuid } from '../core/validation.ts'
import { Direction, MessageStatus, MessageType } from '../generated/prisma/enums.ts'
import { type MessageErrorCode, messageErrors } from './error-codes.ts'
import type { MessageFilter, MessagePart } from './list.ts'
import { DirectionRef, MessageErrorCodeRef, MessageStatusRef, MessageTypeRef } from './object.ts'

registerEnum('MessageDirection', DirectionRef)
registerEnum('MessageStatus', MessageStatusRef)
registerEnum('MessageType', MessageTypeRef)
registerEnum('MessageErrorCode', MessageErrorCodeRef)

const status = z.enum(MessageStatus).meta({ id: 'MessageStatus' })
const errorCodes = Object.keys(messageErrors) as [MessageErrorCode, ...MessageErrorCode[]]

/** Days that a search for a text looks back, unless another filter makes the list short. */
const searchedDays = 31

export const MessageFilterInput = defineInput(
  'MessageFilter',
  'Filters for messages. A message must fit all of them.',
  z.object({
    status: status.nullish().describe('Only messages in this status.'),
    statuses: z.array(status).min(1).max(8).nullish().describe('Only messages in one of these statuses, 1 to 8.'),
    errorCode: z
      .enum(errorCodes)
      .meta({ id: 'MessageErrorCode' })
      .nullish()
      .describe('Only messages that failed or were cancelled for this reason: those whose `errorCode` it is.'),
    direction: z.enum(Direction).meta({ id: 'MessageDirection' }).nullish().describe('Only messages in this direction.'),
    type: z.enum(MessageType).meta({ id: 'MessageType' }).nullish().describe('Only messages of this type.'),
    text: text(1, 200)
      .nullish()
      .describe(
        `Only messages with this text in their \`body\`, in any case, 1 to 200 characters. The bodies are read one by one, so at most the ${searchedDays} days before \`createdTo\`, or before now, are searched; all days only together with \`phone\`, \`contactId\`, \`campaignId\` or \`reference\`.`,
      ),
    instanceId: uuid.nullish().describe('Only messages of this instance.'),
    contactId: uuid.nullish().describe('Only messages about this contact.'),
    campaignId: uuid.nullish().describe('Only messages of this campaign.'),
    reference: text(1, 255).nullish().describe('Only messages with this `reference` of yours.'),
    to: phone.nullish().describe('Only messages to this number, E.164.'),
    phone: phone.nullish().describe('Only messages to or from this number of another party, E.164.'),
    createdFrom: moment.nullish().describe('Only messages accepted at or after this time.'),
    createdTo: moment.nullish().describe('Only messages accepted before this time.'),
  }),
)

/** The conditions of a filter. `now` bounds the search for a text. */
export function filterOf(filter: ReturnType<typeof MessageFilterInput.parse>, now: Date): MessageFilter {
  const { createdFrom, createdTo, statuses, errorCode, text: searched, phone: peer, ...equal } = filter
  const to = createdTo ? new Date(createdTo) : undefined
  const from = createdFrom ? new Date(createdFrom) : undefined
  const isNarrow = [peer, equal.contactId, equal.campaignId, equal.reference].some((value) => value != null)
  const earliest = new Date((to ?? now).getTime() - searchedDays * dayMs)
  const searchedFrom = searched != null && !isNarrow && (!from || from < earliest) ? earliest : from
  const asked = Object.entries({ ...equal, peer }).filter(([, value]) => value != null) as [string, string][]
  return {
    equal: Object.fromEntries(asked),
    others: [
      ...(statuses ? [['status', 'in', [...new Set(statuses)]] as const] : []),
      ...(errorCode ? [errorCondition(errorCode)] : []),
      ...(searchedFrom ? [['createdAt', '>=', searchedFrom] as const] : []),
      ...(to ? [['createdAt', '<', to] as const] : []),
      ...(searched == null ? [] : [['body', 'contains', searched] as const]),
    ],
    binding: Object.entries(filter).filter(([, value]) => value != null),
    part: errorCode != null ? 'failed' : partOf(filter),
  }
}

const statusesOfParts: Readonly<Record<MessagePart, readonly MessageStatus[]>> = {
  failed: ['failed', 'cancelled'],
  open: ['queued', 'sending'],
  received: ['received'],
}

function partOf({ status, statuses, direction }: ReturnType<typeof MessageFilterInput.parse>): MessagePart | undefined {
  const asked = [statuses, status ? [status] : null].filter((list) => list != null)
  const parts = Object.keys(statusesOfParts) as MessagePart[]
  const part = parts.find((name) => asked.some((list) => list.every((one) => statusesOfParts[name].includes(one))))
  return part ?? (direction === 'inbound' ? 'received' : undefined)
}

/** A code that is not in the table is one of a network, which `errorCode` shows as `PROVIDER_ERROR`. */
function errorCondition(errorCode: MessageErrorCode): Condition {
  if (errorCode !== 'PROVIDER_ERROR') return ['error', '=', errorCode]
  return ['error', 'not in', errorCodes.filter((code) => code !== 'PROVIDER_ERROR')]
}
