// The events of messages.
import { z } from 'zod'
import { defineEvent, type NewEvent } from '../events/log/define.ts'

const ids = {
  instanceId: z.uuid().describe('The instance of the event.'),
  messageId: z.uuid().describe('The message of the event.'),
  providerMessageId: z.string().nullable().describe("The network's id of the message; null if the network gave none."),
}
const to = z.string().describe("The recipient's number, E.164.")
const reference = z.string().optional().describe('The `reference` that the sender gave the message; left out if there is none.')
const subject = ({ instanceId, messageId }: { instanceId: string; messageId: string }) => ({ instanceId, messageId })

const nilId = '00000000-0000-0000-0000-000000000000'
const sampleIds = { instanceId: nilId, messageId: nilId, providerMessageId: 'test' }
const ownNumber = '+10000000000'
const otherNumber = '+10000000001'

function defineProgress(status: 'sent' | 'delivered' | 'read', summary: string) {
  return defineEvent({
    type: `message.${status}`,
    summary,
    payload: z.object({ ...ids, to, status: z.literal(status).describe('The new status.'), reference }),
    subject,
    sample: { ...sampleIds, to: otherNumber, status },
  })
}

export const messageSent = defineProgress('sent', 'The network accepted a message')
export const messageDelivered = defineProgress('delivered', "A message reached the recipient's phone")
export const messageRead = defineProgress('read', 'The recipient read a message')

export const messageFailed = defineEvent({
  type: 'message.failed',
  summary: 'A message failed',
  payload: z.object({
    ...ids,
    to,
    status: z.literal('failed').describe('The new status.'),
    error: z.string().nullable().describe('The reason of the failure, as a code.'),
    reference,
  }),
  subject,
  sample: { ...sampleIds, to: otherNumber, status: 'failed', error: 'TEST' },
})

export const messageReceived = defineEvent({
  type: 'message.received',
  summary: 'A message was received',
  payload: z.object({
    ...ids,
    to: z.string().describe("The instance's number, E.164."),
    status: z.literal('received').describe('Always `received`.'),
    from: z.string().describe("The sender's number, E.164."),
    type: z.string().describe('The type of the message; `unknown` if it is none of the types that can be sent.'),
    body: z.string().describe('The text, caption, place, shared name or description; empty if there is none.'),
  }),
  subject,
  sample: { ...sampleIds, from: otherNumber, to: ownNumber, type: 'text', body: 'test', status: 'received' },
})

export interface EventfulMessage {
  id: string
  workspaceId: string
  instanceId: string
  campaignId: string | null
  providerMessageId: string | null
  to: string
  reference?: string | null
  error?: string | null
}

const progress = { sent: messageSent, delivered: messageDelivered, read: messageRead }

/** The event of an outbound message that has just reached a status. */
export function messageEvent(message: EventfulMessage, status: keyof typeof progress | 'failed', at: Date): NewEvent {
  const { workspaceId, instanceId, campaignId, providerMessageId, to, error, reference } = message
  const given = reference == null ? {} : { reference }
  const fields = { instanceId, messageId: message.id, providerMessageId, to }
  const occurrence = { workspaceId, campaignId, at }
  if (status === 'failed') return messageFailed.event({ ...fields, status, error: error ?? null, ...given }, occurrence)
  return progress[status].event({ ...fields, status, ...given }, occurrence)
}
