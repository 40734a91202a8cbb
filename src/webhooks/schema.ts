// GraphQL fields of webhook endpoints and their deliveries.
import { z } from 'zod'
import { fail } from '../core/errors.ts'
import { AuthorRef, authorOf } from '../core/graph/author.ts'
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { parseChange } from '../core/graph/input.ts'
import { readList } from '../core/graph/list.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { EventTypeRef, eventTypes } from '../events/log/event-type.ts'
import type { WebhookDelivery, WebhookEndpoint } from '../generated/prisma/client.ts'
import { DeliveryStatus } from '../generated/prisma/enums.ts'
import { deliveryConditions, deliveryTable, indexCondition, payloadOf } from './deliveries.ts'
import { CreateWebhookInput, UpdateWebhookInput } from './input.ts'
import { redeliver, testEndpoint } from './redeliver.ts'
import { createEndpoint, deleteEndpoint, type Endpoint, rotateSecret, updateEndpoint } from './service.ts'

export const DeliveryStatusRef = builder.enumType('DeliveryStatus', {
  description: 'The status of a webhook delivery.',
  values: {
    [DeliveryStatus.pending]: { description: 'Not attempted yet.' },
    [DeliveryStatus.delivered]: { description: 'Answered with a 2xx status.' },
    [DeliveryStatus.retrying]: { description: 'Failed; another attempt follows.' },
    [DeliveryStatus.failed]: { description: 'Failed permanently. It can be delivered again for 30 days.' },
  } as Record<DeliveryStatus, { description: string }>,
})

// Neither type declares columns. A row that a mutation returns is therefore shown as it is, and not read again.
export const DeliveryRef = builder.prismaObject('WebhookDelivery', {
  description: 'The delivery of one event to one webhook endpoint.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    webhookId: t.exposeID('endpointId', { description: 'The endpoint.' }),
    eventId: t.exposeID('eventId', { description: "The event's id: `webhook-id` and `X-Service-Delivery` on every attempt." }),
    event: t.expose('type', { type: EventTypeRef, description: 'Its type.' }),
    test: t.boolean({
      extensions: { columns: ['eventSeq'] },
      description: 'True if `testWebhook` created it.',
      resolve: (row) => row.eventSeq === null,
    }),
    status: t.expose('status', { type: DeliveryStatusRef, description: 'Its status.' }),
    attempts: t.exposeInt('attempts', { description: 'The number of attempts: up to five automatic ones, and those requested.' }),
    responseCode: t.exposeInt('responseCode', {
      nullable: true,
      description: 'The HTTP status of the last answer; null if there was none.',
    }),
    error: t.exposeString('error', { nullable: true, description: 'Why the last attempt failed, in one word.' }),
    nextAttemptAt: t.expose('nextAttemptAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the next attempt follows; null if none does.',
    }),
    lastAttemptAt: t.expose('lastAttemptAt', { type: 'DateTime', nullable: true, description: 'When it was last attempted.' }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the endpoint answered with a 2xx status.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the delivery was created.' }),
    payload: t.field({
      type: 'JSON',
      nullable: true,
      extensions: { columns: ['id'] },
      description: 'The request body.',
      resolve: (row, _, ctx) => payloadOf(ctx, row.id),
    }),
  }),
})

export const { connection: DeliveryConnection } = connectionOf(DeliveryRef, ['WebhookEndpointDeliveriesConnection'])

export const EndpointRef = builder.prismaObject('WebhookEndpoint', {
  description: 'A URL that receives webhooks.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    url: t.exposeString('url', { description: 'The URL that receives the events.' }),
    events: t.expose('events', {
      type: [EventTypeRef],
      extensions: { items: eventTypes().length },
      description: 'The event types to deliver.',
    }),
    secret: t.string({
      nullable: true,
      description:
        'The signing secret. Only the responses of `createWebhook` and `rotateWebhookSecret` contain it; otherwise null.',
      resolve: (row) => (row as Partial<Endpoint>).shownSecret ?? null,
    }),
    disabledAt: t.expose('disabledAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When deliveries were stopped; null if they are not.',
    }),
    disabledReason: t.exposeString('disabledReason', {
      nullable: true,
      description:
        'Why deliveries were stopped: `gone` (it answered 410), `failing` (all attempts failed for 5 days), `by_hand`, `over_the_plan` (it rests until the plan allows it), or `member_removed` (its `createdBy` or `approvedBy` is no longer in the team; `updateWebhook` with `enabled: true` starts deliveries again).',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when all attempts have failed; null after a 2xx status.',
    }),
    createdBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The user who created it, or who created the team key that did.',
      resolve: (row, _, ctx) => authorOf(ctx, row.createdById),
    }),
    approvedBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The user who last set its URL or enabled it.',
      resolve: (row, _, ctx) => authorOf(ctx, row.approvedById),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    deliveries: t.connection(
      {
        type: DeliveryRef,
        extensions: { page: 20 },
        description: 'Its deliveries of the last 30 days, newest first.',
        args: {
          status: t.arg({ type: DeliveryStatusRef, description: 'Only deliveries with this status.' }),
          event: t.arg({ type: EventTypeRef, description: 'Only deliveries of this type of event.' }),
          createdFrom: t.arg({ type: 'DateTime', description: 'Only deliveries created at or after this time.' }),
          createdTo: t.arg({ type: 'DateTime', description: 'Only deliveries created before this time.' }),
        },
        resolve: ({ id }, { status, event, createdFrom, createdTo, ...args }, ctx, info) =>
          readList<WebhookDelivery>(ctx, info, args, {
            table: deliveryTable,
            of: ['endpointId', id],
            conditions: deliveryConditions({ status, event, createdFrom, createdTo }),
            partial: indexCondition(status),
            binding: [
              'deliveries',
              id,
              status ?? null,
              ...(event || createdFrom || createdTo ? [{ event, createdFrom, createdTo }] : []),
            ],
          }),
      },
      DeliveryConnection,
    ),
  }),
})

/** The result of a mutation, cast to the row of the GraphQL type. The missing columns are never read. */
function shown(endpoint: Endpoint): WebhookEndpoint {
  return endpoint as WebhookEndpoint
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
    nullable: true,
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
      description: 'Creates a webhook endpoint. Only this response contains its `secret`.',
      errors: [
        'SUBSCRIPTION_INACTIVE',
        { FORBIDDEN: 'for collaborators' },
        'WEBHOOKS_NOT_AVAILABLE_ON_PLAN',
        'MAX_WEBHOOK_ENDPOINTS_REACHED',
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateWebhookInput.ref, required: true, description: 'The new record.' }) },
      resolve: async (_, args, ctx) => {
        const once = keyed(ctx, 'createWebhook', args.input)
        return shown(await createEndpoint(once, CreateWebhookInput.parse(ctx.app.config, args.input)))
      },
    }),
    updateWebhook: t.field({
      type: EndpointRef,
      description:
        'Updates a webhook endpoint, or starts its deliveries again after they were stopped, as far as the plan allows.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'MAX_WEBHOOK_ENDPOINTS_REACHED', 'SUBSCRIPTION_INACTIVE'],
      args: { id, input: t.arg({ type: UpdateWebhookInput.ref, required: true, description: 'The changes.' }) },
      resolve: async (_, args, ctx) => shown(await updateEndpoint(ctx, ...parseChange(ctx.app.config, UpdateWebhookInput, args))),
    }),
    deleteWebhook: t.field({
      type: DeletedRef,
      description: 'Deletes a webhook endpoint and cancels its open deliveries.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      args: { id },
      resolve: (_, args, ctx) => deleteEndpoint(ctx, parse(uuid, args.id, 'id')),
    }),
    rotateWebhookSecret: t.field({
      type: EndpointRef,
      description: 'Creates a new `secret`, which only this response contains. The previous one signs as well for 24 hours.',
      errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      args: { id },
      resolve: async (_, args, ctx) => shown(await rotateSecret(ctx, parse(uuid, args.id, 'id'))),
    }),
    testWebhook: t.field({
      type: DeliveryRef,
      description: "Delivers one test event of the endpoint's first event type, marked `test`, in one attempt.",
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
        { INVALID_STATE: 'if it is disabled, or an attempt is in progress' },
        'SUBSCRIPTION_INACTIVE',
      ],
      authScopes: { active: true },
      args: {
        deliveryId: t.arg.id({ required: true, description: 'The delivery.' }),
        webhookId: t.arg.id({ description: 'If given, the delivery must belong to this endpoint.' }),
      },
      resolve: (_, args, ctx) => {
        const { deliveryId, webhookId } = parse(z.object({ webhookId: uuid.nullish(), deliveryId: uuid }), args)
        return redeliver(ctx, deliveryId, webhookId ?? undefined)
      },
    }),
  }
})
