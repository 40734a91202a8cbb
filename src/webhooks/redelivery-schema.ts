// GraphQL fields of redeliveries: one more attempt of many deliveries of an endpoint, as a job with progress.
import { builder } from '../core/graph/builder.ts'
import { moment, parse, uuid } from '../core/validation.ts'
import { followOne } from '../events/live/follow.ts'
import type { WebhookRedelivery } from '../generated/prisma/client.ts'
import { RedeliveryStatus } from '../generated/prisma/enums.ts'
import { latestRedelivery, readRedelivery, redeliverAll } from './redelivery.ts'
import { DeliveryStatusRef, EndpointRef } from './schema.ts'

const RedeliveryStatusRef = builder.enumType('WebhookRedeliveryStatus', {
  description: 'The status of a redelivery; `done` and `failed` are final.',
  values: Object.values(RedeliveryStatus),
})

const RedeliveryRef = builder.objectRef<WebhookRedelivery>('WebhookRedelivery').implement({
  description: 'One more attempt for many deliveries of an endpoint, scheduled in the background in chunks.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    webhookId: t.exposeID('endpointId', { description: 'The endpoint.' }),
    deliveryStatus: t.expose('of', {
      type: DeliveryStatusRef,
      description: 'The status of the deliveries that it is about.',
    }),
    since: t.expose('since', {
      type: 'DateTime',
      description: 'It is about deliveries created at this time or later, up to `createdAt`.',
    }),
    status: t.expose('status', { type: RedeliveryStatusRef, description: 'Its progress.' }),
    requestedCount: t.exposeInt('requestedCount', {
      description:
        'The deliveries that match; 0 until they were counted. Of more than 500,000 deliveries, the oldest 500,000 are counted, and it rises with `processedCount`.',
    }),
    processedCount: t.exposeInt('processedCount', {
      description: 'The deliveries whose next attempt is due since. Those with an attempt in progress are left out.',
    }),
    progress: t.int({ description: 'The same in percent, 0 to 100.', resolve: progressOf }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it `failed`: `endpoint_disabled`, `endpoint_deleted` or `INTERNAL_ERROR`.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was requested.' }),
    completedAt: t.expose('completedAt', { type: 'DateTime', nullable: true, description: 'When it ended.' }),
  }),
})

function progressOf({ requestedCount, processedCount, status }: WebhookRedelivery): number {
  if (status === 'done') return 100
  return requestedCount === 0 ? 0 : Math.min(99, Math.floor((100 * processedCount) / requestedCount))
}

builder.prismaObjectField(EndpointRef, 'redelivery', (t) =>
  t.field({
    type: RedeliveryRef,
    nullable: true,
    description: 'The latest job of `redeliverAll`, kept for 30 days after its end; null if there is none.',
    resolve: ({ id }, _, ctx) => latestRedelivery(ctx, id),
  }),
)

builder.queryField('webhookRedelivery', (t) =>
  t.field({
    type: RedeliveryRef,
    nullable: true,
    description: 'One job of `redeliverAll`.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, ctx) => readRedelivery(ctx, parse(uuid, id, 'id')),
  }),
)

builder.mutationField('redeliverAll', (t) =>
  t.field({
    type: RedeliveryRef,
    description:
      'Makes one more attempt of each delivery of an endpoint that matches, by a job that `webhookRedelivery` follows. Test deliveries are left out. At most one such job runs for an endpoint.',
    errors: [
      'NOT_FOUND',
      { FORBIDDEN: 'for collaborators' },
      { INVALID_STATE: 'if it is disabled, or such a job runs already' },
      'SUBSCRIPTION_INACTIVE',
    ],
    authScopes: { active: true },
    args: {
      webhookId: t.arg.id({ required: true, description: 'The endpoint.' }),
      since: t.arg({
        type: 'DateTime',
        description: 'Only deliveries created at or after this time; by default all of the last 30 days.',
      }),
      status: t.arg({
        type: DeliveryStatusRef,
        description: 'Only deliveries with this status: `failed` (the default), `retrying` or `delivered`.',
      }),
    },
    resolve: (_, { webhookId, since, status }, ctx) =>
      redeliverAll(ctx, parse(uuid, webhookId, 'webhookId'), {
        since: since == null ? null : new Date(parse(moment, since, 'since')),
        status: status ?? 'failed',
      }),
  }),
)

builder.subscriptionField('webhookRedelivery', (t) =>
  t.field({
    type: RedeliveryRef,
    description: 'The progress of a job of `redeliverAll`: now, and after every change.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    subscribe: (_, args, ctx) => followOne('webhookRedelivery', args.id, (id) => readRedelivery(ctx, id)),
    resolve: (_, { id }, ctx) => readRedelivery(ctx, parse(uuid, id, 'id')),
  }),
)
