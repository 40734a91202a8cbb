// GraphQL queries and mutations for messages.
import { errors, fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { parse, uuid } from '../core/validation.ts'
import { filterOf, MessageFilterInput } from './filter.ts'
import { ScheduleMessageInput, SendMessageInput, SendMessagesInput } from './input.ts'
import { listMessages } from './list.ts'
import { MessageConnection, MessageRef } from './object.ts'
import { type BulkResult, cancelMessage, scheduleMessage, sendMessage, sendMessages } from './service.ts'

const sorts = { createdAt_desc: 'desc', createdAt_asc: 'asc' } as const
const MessageSort = builder.enumType('MessageSort', {
  description: 'A sort order.',
  values: ['createdAt_desc', 'createdAt_asc'] as const,
})

builder.queryFields((t) => ({
  message: t.prismaField({
    type: 'Message',
    nullable: true,
    description: 'One message.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.message.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Message not found')
    },
  }),
  messages: t.connection(
    {
      type: MessageRef,
      extensions: { page: 20 },
      description: 'The messages of the workspace, newest first unless sorted otherwise; 20 a page, at most 100.',
      args: {
        filter: t.arg({ type: MessageFilterInput.ref, description: 'The filters.' }),
        sort: t.arg({ type: MessageSort, defaultValue: 'createdAt_desc', description: 'The sort order.' }),
      },
      resolve: (_, { filter, sort, ...page }, ctx, info) => {
        const parsed = MessageFilterInput.parse(ctx.app.config, filter ?? {})
        return listMessages(ctx, info, page, filterOf(parsed, new Date()), sorts[sort ?? 'createdAt_desc'])
      },
    },
    MessageConnection,
  ),
  history: t.connection(
    {
      type: MessageRef,
      extensions: { page: 20 },
      description: 'The messages to and from one number, newest first; 20 a page, at most 100.',
      args: { phone: t.arg.string({ required: true, description: 'The number of the other party, E.164.' }) },
      resolve: (_, { phone: number, ...page }, ctx, info) =>
        listMessages(ctx, info, page, { equal: { peer: parse(phone, number, 'phone') } }, 'desc'),
    },
    MessageConnection,
  ),
}))

const AcceptedRef = builder.objectRef<BulkResult['accepted'][number]>('AcceptedMessage').implement({
  description: 'An accepted message of a bulk request.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the request, from 0.' }),
    id: t.exposeID('id', { description: "The message's id." }),
  }),
})
const ErrorCodeRef = builder.enumType('ErrorCode', {
  description: 'All error codes.',
  values: Object.keys(errors),
})
const RejectedRef = builder.objectRef<BulkResult['rejected'][number]>('RejectedMessage').implement({
  description: 'A refused message of a bulk request.',
  fields: (t) => ({
    index: t.exposeInt('index', { description: 'Its index in the request, from 0.' }),
    code: t.field({ type: ErrorCodeRef, description: 'Why.', resolve: (row) => row.code }),
    message: t.exposeString('message', { description: 'The error message.' }),
  }),
})
const BulkResultRef = builder.objectRef<BulkResult>('SendMessagesResult').implement({
  description: 'The results of a bulk request.',
  fields: (t) => ({
    accepted: t.expose('accepted', {
      type: [AcceptedRef],
      extensions: { items: 1_000 },
      description: 'The accepted messages.',
    }),
    rejected: t.expose('rejected', {
      type: [RejectedRef],
      extensions: { items: 1_000 },
      description: 'The refused messages, with the reasons.',
    }),
  }),
})

builder.mutationFields((t) => ({
  sendMessage: t.field({
    type: MessageRef,
    description: 'Sends a message. It is stored when the mutation returns, and sent right after.',
    errors: ['NOT_FOUND', 'TEMPLATE_INVALID', 'RECIPIENT_SUPPRESSED', 'MONTHLY_OUTBOUND_QUOTA_EXCEEDED'],
    authScopes: { active: true },
    args: { input: t.arg({ type: SendMessageInput.ref, required: true, description: 'The message.' }) },
    resolve: (_, { input }, ctx) => sendMessage(keyed(ctx, 'sendMessage', input), input),
  }),
  scheduleMessage: t.field({
    type: MessageRef,
    description: 'Schedules a message.',
    errors: [
      'NOT_FOUND',
      'TEMPLATE_INVALID',
      'RECIPIENT_SUPPRESSED',
      { MONTHLY_OUTBOUND_QUOTA_EXCEEDED: 'if the quota is used up now, or if a yearly quota was scheduled this month' },
    ],
    authScopes: { active: true },
    args: { input: t.arg({ type: ScheduleMessageInput.ref, required: true, description: 'The message and its time.' }) },
    resolve: (_, { input }, ctx) => scheduleMessage(keyed(ctx, 'scheduleMessage', input), input),
  }),
  sendMessages: t.field({
    type: BulkResultRef,
    description: 'Sends or schedules up to 1000 messages, each accepted or refused separately.',
    authScopes: { active: true },
    args: { input: t.arg({ type: SendMessagesInput.ref, required: true, description: 'The messages.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'sendMessages', input)
      return sendMessages(once, SendMessagesInput.parse(ctx.app.config, input).messages)
    },
  }),
  cancelMessage: t.field({
    type: MessageRef,
    description: 'Cancels a message that is still queued. It no longer counts towards the quota.',
    errors: ['NOT_FOUND', 'INVALID_STATE'],
    args: { id: t.arg.id({ required: true, description: 'The message.' }) },
    resolve: (_, { id }, ctx) => cancelMessage(ctx, parse(uuid, id, 'id')),
  }),
}))
