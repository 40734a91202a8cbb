// GraphQL type CampaignRecipient and field Campaign.recipients.
import { loadContact } from '../contacts/load.ts'
import { ContactRef } from '../contacts/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { loadMessage } from '../messages/load.ts'
import { MessageRef } from '../messages/object.ts'
import type { RecipientState } from './policy.ts'
import { pageOfRecipients, type RecipientRecord } from './recipients.ts'
import { CampaignRef } from './schema.ts'

export const RecipientStatusRef = builder.enumType('CampaignRecipientStatus', {
  description: 'The status of a recipient: one of the counters of the campaign.',
  values: {
    planned: { description: 'Not queued yet.' },
    queued: { description: 'Queued, or on the way to the network.' },
    sent: { description: 'Accepted by the network.' },
    delivered: { description: 'Delivered to the phone.' },
    read: { description: 'Read.' },
    failed: { description: 'Failed: see `error`.' },
    cancelled: { description: 'Cancelled before it was sent; `error` says why, unless a user cancelled it.' },
  } satisfies Record<RecipientState, { description: string }>,
})

const RecipientRef = builder.objectRef<RecipientRecord>('CampaignRecipient').implement({
  description: 'A recipient of a campaign, and how far its message is.',
  fields: (t) => ({
    to: t.exposeString('to', { description: 'The number, E.164.' }),
    contactId: t.exposeID('contactId', { nullable: true, description: 'The contact; null if the number is none, or no longer.' }),
    messageId: t.exposeID('messageId', { nullable: true, description: 'The message; null if there is none.' }),
    status: t.expose('status', { type: RecipientStatusRef, description: 'The status.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why it failed or was cancelled, as a code.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the status last changed.' }),
    contact: t.field({
      type: ContactRef,
      nullable: true,
      description: 'The contact; null if the number is none, or no longer.',
      resolve: ({ contactId }, _, ctx) => (contactId ? loadContact(ctx, contactId) : null),
    }),
    message: t.field({
      type: MessageRef,
      nullable: true,
      description: 'The message; null if there is none.',
      resolve: ({ messageId }, _, ctx) => (messageId ? loadMessage(ctx, messageId) : null),
    }),
  }),
})

const { connection: RecipientConnection } = connectionOf(RecipientRef)

builder.prismaObjectField(CampaignRef, 'recipients', (t) =>
  t.connection(
    {
      type: RecipientRef,
      extensions: { page: 20, columns: ['id', 'createdAt', 'recipientsCount'] },
      description:
        'The recipients, 20 a page, at most 100. All of them are in the order of sending. With `status`, those without a message come first; the others follow in the order in which they changed.',
      args: {
        status: t.arg({ type: RecipientStatusRef, description: 'Only recipients with this status.' }),
        error: t.arg.string({ description: 'Only those with this `error`; together with the status `failed` or `cancelled`.' }),
      },
      resolve: (campaign, args, ctx) => pageOfRecipients(ctx, campaign, args),
    },
    RecipientConnection,
  ),
)
