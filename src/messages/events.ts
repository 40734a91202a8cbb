// The events of messages.
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { nilId } from '../core/id.ts'
import { defineEvent, type NewEvent } from '../events/log/define.ts'
import type { RelaySink } from '../events/log/relay.ts'

const ids = {
  instanceId: z.uuid().describe('The instance of the event.'),
  messageId: z.uuid().describe('The message of the event.'),
  providerMessageId: z.string().nullable().describe("The network's id of the message; null if the network gave none."),
}
const to = z.string().describe("The recipient's number, E.164.")
const reference = z.string().optional().describe('The `reference` that the sender gave the message; left out if there is none.')
const subject = ({ instanceId, messageId }: { instanceId: string; messageId: string }) => ({ instanceId, messageId })

const sampleIds = { instanceId: nilId, messageId: nilId, providerMessageId: 'test' }
const sampleReference = 'test'
const ownNumber = '+10000000000'
const otherNumber = '+10000000001'

function defineProgress(status: 'queued' | 'sent' | 'delivered' | 'read' | 'cancelled', summary: string, live = false) {
  return defineEvent({
    live,
    type: `message.${status}`,
    summary,
    payload: z.object({ ...ids, to, status: z.literal(status).describe('The new status.'), reference }),
    subject,
    sample: { ...sampleIds, to: otherNumber, status, reference: sampleReference },
  })
}

export const messageQueued = defineProgress('queued', 'A message was accepted, to be sent now or at its time', true)
export const messageCancelled = defineProgress('cancelled', 'A message was cancelled before it was sent', true)
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
  sample: { ...sampleIds, to: otherNumber, status: 'failed', error: 'TEST', reference: sampleReference },
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

export const messageUpdated = defineEvent({
  live: true,
  type: 'message.updated',
  summary: 'The file of a received message was fetched, or cannot be fetched',
  payload: z.object({
    ...ids,
    mediaUrl: z.string().nullable().describe('The address of its file; null if it cannot be fetched.'),
    errorDetail: z.string().nullable().describe('Why it cannot be fetched; null if it was.'),
  }),
  subject,
  sample: { ...sampleIds, mediaUrl: 'https://example.com/file.jpg', errorDetail: null },
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

const progress = {
  queued: messageQueued,
  cancelled: messageCancelled,
  sent: messageSent,
  delivered: messageDelivered,
  read: messageRead,
}

/** The event of an outbound message that has just reached a status, or was accepted. */
export function messageEvent(message: EventfulMessage, status: keyof typeof progress | 'failed', at: Date): NewEvent {
  const { workspaceId, instanceId, campaignId, providerMessageId, to, error, reference } = message
  const given = reference == null ? {} : { reference }
  const fields = { instanceId, messageId: message.id, providerMessageId, to }
  const occurrence = { workspaceId, campaignId, at }
  if (status === 'failed') return messageFailed.event({ ...fields, status, error: error ?? null, ...given }, occurrence)
  return progress[status].event({ ...fields, status, ...given }, occurrence)
}

/** Counts the messages of events by status and error when their events are numbered. A repeated batch is counted again. */
export function countingSink({ metrics }: Pick<App, 'metrics'>): RelaySink {
  return async (_, events) => {
    for (const { type, payload } of events) {
      const [, status] = type.match(/^message\.(\w+)$/) ?? []
      if (!status || type === messageUpdated.type) continue
      const { error } = status === 'failed' ? (JSON.parse(payload) as { error?: string | null }) : { error: null }
      metrics.messages.inc({ status, error: error ?? '' })
    }
  }
}
