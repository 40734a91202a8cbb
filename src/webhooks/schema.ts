// GraphQL fields of webhook endpoints and their deliveries.

import { fail } from '../core/errors.ts'
import { AuthorRef, authorOf } from '../core/graph/author.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { readList } from '../core/graph/list.ts'
import { tableOf } from '../core/graph/table.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { EventTypeRef, eventTypes } from '../events/log/event-type.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../generated/prisma/client.ts'
import { DeliveryStatus } from '../generated/prisma/enums.ts'
import { payloadOf } from './deliveries.ts'
import { CreateWebhookInput, UpdateWebhookInput } from './input.ts'
import { redeliver, testEndpoint } from './redeliver.ts'
import { createEndpoint, deleteEndpoint, type Endpoint, rotateSecret, updateEndpoint } from './service.ts'

const DeliveryStatusRef = builder.enumType('DeliveryStatus', {
  description: 'Where a webhook delivery stands.',
  values: {
    [DeliveryStatus.pending]: { description: 'Not attempted yet.' },
    [DeliveryStatus.delivered]: { description: 'Answered with a 2xx.' },
    [DeliveryStatus.retrying]: { description: 'Failed so far, and going to be attempted again.' },
    [DeliveryStatus.failed]: { description: 'Given up; it can be asked for again for 30 days.' },
  } as Record<DeliveryStatus, { description: string }>,
})

// Neither type declares columns. A row that a mutation returns is therefore shown as it is, and not read again.
const DeliveryRef = builder.prismaObject('WebhookDelivery', {
  description: 'One event on its way to one webhook endpoint.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the delivery.' }),
    webhookId: t.exposeID('endpointId', { description: 'The endpoint it goes to.' }),
    eventId: t.exposeID('eventId', { description: "The event's id: `webhook-id` and `X-Service-Delivery` on every attempt." }),
    event: t.expose('type', { type: EventTypeRef, description: 'What it tells of.' }),
    test: t.boolean({
      extensions: { columns: ['eventSeq'] },
      description: 'Whether it was made up by `testWebhook`.',
      resolve: (row) => row.eventSeq === null,
    }),
    status: t.expose('status', { type: DeliveryStatusRef, description: 'Where it stands.' }),
    attempts: t.exposeInt('attempts', { description: 'Attempts made: five by themselves, and those asked for.' }),
    responseCode: t.exposeInt('responseCode', {
      nullable: true,
      description: 'The HTTP status of the last answer; null where none came.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the last attempt failed, in one word.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it is attempted next; null once it is over.',
    }),
    lastAttemptAt: t.expose('lastAttemptAt', { type: 'DateTime', nullable: true, description: 'When it was attempted last.' }),
    deliveredAt: t.expose('deliveredAt', { type: 'DateTime', nullable: true, description: 'When a 2xx came.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the event was handed to webhooks.' }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      extensions: { columns: ['id'] },
      description: 'The body that is sent.',
      resolve: (row, _, ctx) => payloadOf(ctx, row.id),
    }),
  }),
})

const deliveryTable = tableOf('WebhookDelivery', 'webhook_deliveries')

const EndpointRef = builder.prismaObject('WebhookEndpoint', {
  description: 'An address of yours that receives events.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Names the endpoint.' }),
    url: t.exposeString('url', { description: 'Where events are delivered.' }),
    events: t.expose('events', {
      type: [EventTypeRef],
      extensions: { items: eventTypes().length },
      description: 'The kinds of events delivered.',
    }),
    secret: t.string({
      nullable: true,
      description:
        'The key of the signatures. Only in the answers of `createWebhook` and `rotateWebhookSecret`; null everywhere else.',
      resolve: (row) => (row as Partial<Endpoint>).shownSecret ?? null,
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when nothing is delivered any more.',
    }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description:
        'Why: `gone` (it answered 410), `failing` (5 days of nothing but failures), `by_hand`, or `member_removed` (its `createdBy` or `approvedBy` is not in the team any more; `updateWebhook` with `enabled: true` takes it up again).',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when every attempt has failed; any 2xx clears it.',
    }),
    createdBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The person who created it; of what a team key creates, the person who made the key.',
      resolve: (row, _, ctx) => authorOf(ctx, row.createdById),
    }),
    approvedBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The person who last set its URL or enabled it.',
      resolve: (row, _, ctx) => authorOf(ctx, row.approvedById),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    deliveries: t.connection({
      type: DeliveryRef,
      extensions: { page: 20 },
      description: 'What was, or is to be, delivered in the last 30 days, newest first.',
      args: { status: t.arg({ type: DeliveryStatusRef, description: 'Only those that stand there.' }) },
      resolve: ({ id }, { status, ...args }, ctx, info) =>
        readList<WebhookDelivery>(ctx, info, args, {
          table: deliveryTable,
          of: ['endpointId', id],
          conditions: status ? [['status', '=', status]] : [],
          binding: ['deliveries', id, status ?? null],
        }),
    }),
  }),
})

/** The result of a mutation, cast to the row of the GraphQL type. The missing columns are never read. */
function shown(endpoint: Endpoint): WebhookEndpoint {
  return endpoint as unknown as WebhookEndpoint
}

builder.queryFields((t) => ({
  webhooks: t.prismaField({
    type: ['WebhookEndpoint'],
    extensions: { items: 50 },
    description: 'The webhook endpoints of the workspace, oldest first.',
    resolve: (query, _, __, { app, principal }) =>
      app.db.webhookEndpoint.findMany({
        ...query,
        where: { workspaceId: principal.workspaceId, deletedAt: null },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      }),
  }),
  webhook: t.prismaField({
    type: 'WebhookEndpoint',
    description: 'One webhook endpoint.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId, deletedAt: null }
      return (await app.db.webhookEndpoint.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Webhook endpoint not found')
    },
  }),
}))

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The endpoint.' })
  return {
    createWebhook: t.field({
      type: EndpointRef,
      description: 'Creates a webhook endpoint; its `secret` is shown in this answer only.',
      errors: [
        'SUBSCRIPTION_INACTIVE',
        { FORBIDDEN: 'for collaborators' },
        'WEBHOOKS_NOT_AVAILABLE_ON_PLAN',
        'MAX_WEBHOOK_ENDPOINTS_REACHED',
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateWebhookInput.ref, required: true, description: 'What to create.' }) },
      resolve: async (_, args, ctx) => {
        const once = keyed(ctx, 'createWebhook', args.input)
        return shown(await createEndpoint(once, CreateWebhookInput.parse(ctx.app.config, args.input)))
      },
    }),
    updateWebhook: t.field({
      type: EndpointRef,
      description: 'Changes a webhook endpoint, or takes deliveries up again after they were stopped.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      args: { id, input: t.arg({ type: UpdateWebhookInput.ref, required: true, description: 'What to change.' }) },
      resolve: async (_, args, ctx) =>
        shown(await updateEndpoint(ctx, parse(uuid, args.id, 'id'), UpdateWebhookInput.parse(ctx.app.config, args.input))),
    }),
    deleteWebhook: t.field({
      type: DeletedRef,
      description: 'Deletes a webhook endpoint and gives up what it was still to get.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      args: { id },
      resolve: (_, args, ctx) => deleteEndpoint(ctx, parse(uuid, args.id, 'id')),
    }),
    rotateWebhookSecret: t.field({
      type: EndpointRef,
      description: 'Gives a new `secret`, shown in this answer only; the one before it signs too for 24 hours.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      args: { id },
      resolve: async (_, args, ctx) => shown(await rotateSecret(ctx, parse(uuid, args.id, 'id'))),
    }),
    testWebhook: t.field({
      type: DeliveryRef,
      description: 'Delivers a made-up event of the first kind that the endpoint asked for, marked `test`, once.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }, { INVALID_STATE: '(disabled)' }, 'SUBSCRIPTION_INACTIVE'],
      authScopes: { active: true },
      args: { id },
      resolve: (_, args, ctx) => testEndpoint(ctx, parse(uuid, args.id, 'id')),
    }),
    redeliver: t.field({
      type: DeliveryRef,
      description: 'Makes one more attempt now, up to 30 days after the event.',
      errors: [
        'NOT_FOUND',
        { FORBIDDEN: 'for collaborators' },
        { INVALID_STATE: '(disabled, or being attempted)' },
        'SUBSCRIPTION_INACTIVE',
      ],
      authScopes: { active: true },
      args: {
        deliveryId: t.arg.id({ required: true, description: 'The delivery.' }),
        webhookId: t.arg.id({ description: 'Where given, the delivery must be of this endpoint.' }),
      },
      resolve: (_, args, ctx) =>
        redeliver(
          ctx,
          parse(uuid, args.deliveryId, 'deliveryId'),
          args.webhookId == null ? undefined : parse(uuid, args.webhookId, 'webhookId'),
        ),
    }),
  }
})
