// GraphQL object type Message, with its enums.
import { builder } from '../core/graph/builder.ts'
import { EventRef } from '../events/schema.ts'
import { Direction, MessageStatus, MessageType } from '../generated/prisma/enums.ts'
import { safetyStates } from '../instances/safety.ts'
import type { MessageSafety } from './safety/safety.ts'

export const DirectionRef = builder.enumType('MessageDirection', {
  description: 'Which way a message goes.',
  values: Object.values(Direction),
})
export const MessageStatusRef = builder.enumType('MessageStatus', {
  description: 'How far a message is. It only moves forward; inbound messages are `received`.',
  values: Object.values(MessageStatus),
})
export const MessageTypeRef = builder.enumType('MessageType', {
  description: 'What a message is. Inbound ones that are none of these are `unknown`.',
  values: Object.values(MessageType),
})
export const SafetyStateRef = builder.enumType('SafetyState', {
  description: 'How careful an instance must be: by age, and by what went wrong in the last 24 hours.',
  values: safetyStates,
})
const SafetyDecisionRef = builder.enumType('SafetyDecision', {
  description: 'What the safety rules say of a send. Nothing is blocked.',
  values: ['allow', 'warn'] as const,
})
const RiskLevelRef = builder.enumType('RiskLevel', {
  description: 'How risky a send is.',
  values: ['low', 'medium', 'high'] as const,
})

const MessageSafetyRef = builder.objectRef<MessageSafety>('MessageSafety').implement({
  description: 'What the instance looked like when the message was accepted.',
  fields: (t) => ({
    decision: t.expose('decision', { type: SafetyDecisionRef, description: '`warn` when a cap was passed.' }),
    riskLevel: t.expose('riskLevel', { type: RiskLevelRef, description: 'How risky the send was.' }),
    state: t.field({ type: SafetyStateRef, description: "The instance's safety state.", resolve: (safety) => safety.state }),
    score: t.exposeInt('score', { description: "The instance's safety score, 0 to 100." }),
  }),
})

interface TimelineEntry {
  status: MessageStatus
  at: Date
}

const TimelineEntryRef = builder.objectRef<TimelineEntry>('TimelineEntry').implement({
  description: 'A status and when the message reached it.',
  fields: (t) => ({
    status: t.field({ type: MessageStatusRef, description: 'The status.', resolve: (entry) => entry.status }),
    at: t.expose('at', { type: 'DateTime', description: 'When.' }),
  }),
})

export const MessageRef = builder.prismaObject('Message', {
  description: 'One message to or from one number.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    userId: t.exposeID('userId', { description: 'The user whose key sent it.' }),
    instanceId: t.exposeID('instanceId', { description: 'The instance it goes through.' }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact it is about.' }),
    campaignId: t.exposeID('campaignId', { nullable: true, description: 'The campaign it belongs to.' }),
    direction: t.expose('direction', { type: DirectionRef, description: 'Which way it goes.' }),
    type: t.expose('type', { type: MessageTypeRef, description: 'What it is.' }),
    from: t.exposeString('from', { nullable: true, description: "The sender's number, E.164." }),
    to: t.exposeString('to', { description: "The recipient's number, E.164." }),
    body: t.exposeString('body', {
      extensions: { bytes: 16 * 1024 },
      description: 'Its text, caption, place, shared name or description; empty where there is none.',
    }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'The file it carries.' }),
    status: t.expose('status', { type: MessageStatusRef, description: 'How far it is.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed, as a code.' }),
    providerMessageId: t.exposeString('providerMessageId', { nullable: true, description: "The network's own id." }),
    warnings: t.exposeStringList('warnings', {
      extensions: { items: 10 },
      description: 'Caps that it passed. Information only.',
    }),
    safety: t.field({
      type: MessageSafetyRef,
      description: 'What the safety rules said.',
      extensions: { columns: ['safety'] },
      resolve: (row) => row.safety as unknown as MessageSafety,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', nullable: true, description: 'When it is to leave.' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true, description: 'When the network took it.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: "When it reached the recipient's phone.",
    }),
    readAt: t.expose('readAt', { type: 'DateTime', nullable: true, description: 'When the recipient read it.' }),
    timeline: t.field({
      type: [TimelineEntryRef],
      description: 'Every status it reached, oldest first.',
      extensions: { items: 6, columns: ['direction', 'createdAt', 'sentAt', 'deliveredAt', 'readAt', 'failedAt', 'cancelledAt'] },
      resolve: (row) => {
        const first: TimelineEntry = { status: row.direction === 'inbound' ? 'received' : 'queued', at: row.createdAt }
        const steps = {
          sent: row.sentAt,
          delivered: row.deliveredAt,
          read: row.readAt,
          failed: row.failedAt,
          cancelled: row.cancelledAt,
        }
        const reached = Object.entries(steps).flatMap(([status, at]) => (at ? [{ status: status as MessageStatus, at }] : []))
        return [first, ...reached]
      },
    }),
    instance: t.relation('instance', { description: 'The instance it goes through.' }),
    contact: t.relation('contact', { nullable: true, description: 'The contact it is about.' }),
  }),
})

builder.prismaObjectField(EventRef, 'message', (t) =>
  t.relation('message', { nullable: true, description: 'The message it is about; null for events of instances.' }),
)
