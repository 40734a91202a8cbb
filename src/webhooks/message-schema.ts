// GraphQL fields between messages and the webhooks that they caused.
import { builder } from '../core/graph/builder.ts'
import { readList } from '../core/graph/list.ts'
import type { WebhookDelivery } from '../generated/prisma/client.ts'
import { deliveriesOfMessages } from './deliveries.sql.ts'
import { deliveryTable, messageIdOf, webhookOf } from './deliveries.ts'
import { DeliveryConnection, DeliveryRef, EndpointRef } from './schema.ts'

/** Deliveries with the message of their event, which is found by its index. A message has few of them. */
const ofMessages = { ...deliveryTable, name: deliveriesOfMessages, columns: [...deliveryTable.columns, 'messageId'] }

builder.prismaObjectField('Message', 'deliveries', (t) =>
  t.connection(
    {
      type: DeliveryRef,
      extensions: { page: 20, columns: ['id'] },
      description: 'The webhook deliveries that it caused in the last 30 days, newest first.',
      resolve: ({ id }, args, ctx, info) =>
        readList<WebhookDelivery>(ctx, info, args, {
          table: ofMessages,
          of: ['messageId', id],
          binding: ['message deliveries', id],
        }),
    },
    DeliveryConnection,
  ),
)

builder.prismaObjectField(DeliveryRef, 'messageId', (t) =>
  t.id({
    nullable: true,
    extensions: { columns: ['id', 'eventSeq'] },
    description: 'The message that caused it; null if another change or a test did.',
    resolve: ({ eventSeq }, _, ctx) => (eventSeq === null ? null : messageIdOf(ctx, eventSeq)),
  }),
)

builder.prismaObjectField(DeliveryRef, 'webhook', (t) =>
  t.field({
    type: EndpointRef,
    nullable: true,
    extensions: { columns: ['endpointId'] },
    description: 'The endpoint; null if it was deleted.',
    resolve: ({ endpointId }, _, ctx) => webhookOf(ctx, endpointId),
  }),
)
