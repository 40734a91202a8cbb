// GraphQL object type Message, with its enums.
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { EventRef } from '../events/schema.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { Direction, MessageStatus, MessageType } from '../generated/prisma/enums.ts'
import { safetyStates } from '../instances/safety.ts'
import { type MessageErrorCode, messageErrorOf, messageErrors } from './error-codes.ts'
import { maxContentBytes } from './receipts/inbound-bounds.ts'
import type { MessageSafety } from './safety/safety.ts'

export const DirectionRef = builder.enumType('MessageDirection', {
  description: 'The direction of a message.',
  values: Object.values(Direction),
})
export const MessageStatusRef = builder.enumType('MessageStatus', {
  description: 'The status of a message. It only advances; inbound messages are `received`.',
  values: Object.values(MessageStatus),
})
export const MessageTypeRef = builder.enumType('MessageType', {
  description: 'The type of a message. Inbound messages of any other type are `unknown`.',
  values: Object.values(MessageType),
})
export const SafetyStateRef = builder.enumType('SafetyState', {
  description: 'The safety state of an instance: its age, and the problems of the last 24 hours.',
  values: safetyStates,
})
const SafetyDecisionRef = builder.enumType('SafetyDecision', {
  description: 'The assessment of a send by the safety rules. Nothing is blocked.',
  values: ['allow', 'warn'] as const,
})
const RiskLevelRef = builder.enumType('RiskLevel', {
  description: 'The risk of a send.',
  values: ['low', 'medium', 'high'] as const,
})

export const MessageErrorCodeRef = builder.enumType('MessageErrorCode', {
  description: 'The reasons for which messages fail or are cancelled.',
  values: Object.fromEntries(
    Object.entries(messageErrors).map(([code, { meaning, cause, again }]) => [
      code,
      { description: `${meaning} Cause: ${cause}. Send it again? ${again}` },
    ]),
  ) as Record<MessageErrorCode, { description: string }>,
})

export const MessageSafetyRef = builder.objectRef<MessageSafety>('MessageSafety').implement({
  description: 'The safety of the instance when the message was accepted.',
  fields: (t) => ({
    decision: t.expose('decision', { type: SafetyDecisionRef, description: '`warn` if a limit was exceeded.' }),
    riskLevel: t.expose('riskLevel', { type: RiskLevelRef, description: 'The risk of the send.' }),
    state: t.expose('state', { type: SafetyStateRef, description: "The instance's safety state." }),
    score: t.exposeInt('score', { description: "The instance's safety score, 0 to 100." }),
  }),
})

/** Returns the content without the network's reference to the file and its times of the message, a sent contact as a received one. */
function shownParts(content: unknown, direction: Direction): unknown {
  if (typeof content !== 'object' || content === null) return content
  const { media: _, writtenAt: __, keywordAt: ___, ...parts } = content as Record<string, unknown>
  if (direction === 'inbound' || parts.kind !== 'contact') return parts
  const { kind, ...contact } = parts
  return { kind, contacts: [contact] }
}

export const MessageRef = builder.prismaObject('Message', {
  description: 'One message to or from one number.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    userId: t.exposeID('userId', {
      description:
        'The id of the user who sent it; the owner of the workspace for a message that a team key sent, and for an inbound one.',
    }),
    instanceId: t.exposeID('instanceId', { description: 'The instance that sends the messages.' }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact of the message.' }),
    campaignId: t.exposeID('campaignId', { nullable: true, description: 'The campaign of the message.' }),
    direction: t.expose('direction', { type: DirectionRef, description: 'Its direction.' }),
    type: t.expose('type', { type: MessageTypeRef, description: 'Its type.' }),
    from: t.exposeString('from', { nullable: true, description: "The sender's number, E.164." }),
    to: t.exposeString('to', { description: "The recipient's number, E.164." }),
    body: t.exposeString('body', {
      extensions: { bytes: 16 * 1024 },
      description: 'The text, caption, place, shared name or description; empty if there is none.',
    }),
    mediaUrl: t.exposeString('mediaUrl', {
      nullable: true,
      description: 'Its file. That of a received message appears once it is fetched; `errorDetail` says why one cannot be.',
    }),
    content: t.field({
      type: 'JSON',
      nullable: true,
      description:
        'What a message has beyond its text and file: `kind` (`text`, `image`, `video`, `audio`, `voice_note`, `document`, `sticker`, `location`, `contact`, `button`, `list`, `reaction`, `system`, `unsupported`; `buttons` only for sent ones) and those that it has of `buttonId`, `replyTo` and `reactedTo` (ids of the network), `latitude`, `longitude`, `name`, `address`, `contacts` (`name`, `phone`), `title`, `footer` and `buttons`. Of sent messages, only those of the types `location`, `contact` and `buttons` have it.',
      extensions: { bytes: maxContentBytes, columns: ['content', 'direction'] },
      resolve: ({ content, direction }) => shownParts(content, direction),
    }),
    status: t.expose('status', { type: MessageStatusRef, description: 'Its progress.' }),
    error: t.exposeString('error', { nullable: true, description: 'The reason of the failure, as a code.' }),
    errorCode: t.field({
      type: MessageErrorCodeRef,
      nullable: true,
      description: 'The reason as one of the known codes: `PROVIDER_ERROR` for one that only the network knows.',
      extensions: { columns: ['error'] },
      resolve: (row) => messageErrorOf(row.error),
    }),
    errorDetail: t.exposeString('errorDetail', {
      nullable: true,
      extensions: { bytes: 1024 },
      description:
        'The reason of the failure in the words of the network, where it gave any; for a received message, why its file is missing.',
    }),
    reference: t.exposeString('reference', { nullable: true, description: "The caller's own name for it." }),
    providerMessageId: t.exposeString('providerMessageId', { nullable: true, description: "The network's id of the message." }),
    warnings: t.exposeStringList('warnings', {
      extensions: { items: 10 },
      description: 'Limits that it exceeded. For information only.',
    }),
    safety: t.field({
      type: MessageSafetyRef,
      description: 'The assessment by the safety rules.',
      extensions: { columns: ['safety'] },
      resolve: (row) => row.safety as Prisma.JsonObject & MessageSafety,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was accepted.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
    scheduledAt: t.expose('scheduledAt', { type: 'DateTime', nullable: true, description: 'When it is to be sent.' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true, description: 'When the network accepted it.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: "When it was delivered to the recipient's phone.",
    }),
    readAt: t.expose('readAt', { type: 'DateTime', nullable: true, description: 'When the recipient read it.' }),
    instance: t.relation('instance', { description: 'The instance that sends the messages.' }),
    contact: t.relation('contact', { nullable: true, description: 'The contact of the message.' }),
  }),
})

export const { connection: MessageConnection } = connectionOf(MessageRef, [
  'QueryMessagesConnection',
  'QueryHistoryConnection',
  'CampaignMessagesConnection',
  'ContactMessagesConnection',
])

builder.prismaObjectField(EventRef, 'message', (t) =>
  t.relation('message', { nullable: true, description: 'The message of the event; null for events that are about no message.' }),
)
