// GraphQL query previewMessage: what a send would do.
import { QuotaPreviewRef } from '../billing/quota-preview.ts'
import { builder } from '../core/graph/builder.ts'
import type { MessagePreview } from './accept/preview.ts'
import { SendMessageInput } from './input.ts'
import { MessageSafetyRef, MessageTypeRef } from './object.ts'
import { previewMessage } from './service.ts'

const MessagePreviewRef = builder.objectRef<MessagePreview>('MessagePreview').implement({
  description: 'A message as it would be accepted now. It is not stored.',
  fields: (t) => ({
    to: t.exposeString('to', { description: 'The recipient, E.164.' }),
    type: t.expose('type', { type: MessageTypeRef, description: 'Its type.' }),
    body: t.exposeString('body', {
      extensions: { bytes: 16 * 1024 },
      description: 'Its text, with the values of the template filled in.',
    }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'Its file.' }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact that it would be about.' }),
    dueAt: t.expose('dueAt', { type: 'DateTime', description: 'When it would leave.' }),
    warnings: t.exposeStringList('warnings', {
      extensions: { items: 10 },
      description: 'Limits that it would exceed. For information only.',
    }),
    safety: t.expose('safety', { type: MessageSafetyRef, description: 'Its assessment by the safety rules.' }),
    quota: t.expose('quota', {
      type: QuotaPreviewRef,
      nullable: true,
      description: 'The quota before and after it; null for collaborators of a team and for its keys, who cannot see its usage.',
    }),
  }),
})

builder.queryField('previewMessage', (t) =>
  t.field({
    type: MessagePreviewRef,
    description:
      'What `sendMessage`, or with a time `scheduleMessage`, would do with this input: it is checked and refused in the same way, and nothing is stored or sent.',
    errors: ['NOT_FOUND', 'TEMPLATE_INVALID', 'RECIPIENT_SUPPRESSED', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'],
    authScopes: { active: true },
    args: {
      input: t.arg({ type: SendMessageInput.ref, required: true, description: 'The message; its idempotencyKey has no effect.' }),
      scheduledAt: t.arg.string({ description: 'When to send it, as in `scheduleMessage`; omitted, now.' }),
    },
    resolve: (_, { input, scheduledAt = null }, ctx) => previewMessage(ctx, input, scheduledAt),
  }),
)
