// GraphQL schema of instances: types, queries, mutations and subscription.
import { UsageRef } from '../billing/schema.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { defineArguments, defineInput, parseChange, registerEnum } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { followState, subject } from '../events/live/follow.ts'
import { EventRef } from '../events/schema.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { ProviderName } from '../generated/prisma/enums.ts'
import { callbackUrl, loadVerifyToken } from './callback.ts'
import {
  connectById,
  connectFields,
  connectInstance,
  countInstances,
  createInstance,
  createInstanceFields,
  deleteInstance,
  logoutInstance,
  newInstanceOf,
  updateInstance,
  updateInstanceFields,
} from './service.ts'
import { InstanceStateRef, InstanceStatusRef } from './state-schema.ts'

const ProviderNameRef = builder.enumType('ProviderName', {
  description: 'The network behind an instance.',
  values: Object.values(ProviderName),
})
registerEnum('ProviderName', ProviderNameRef)

export const InstanceRef = builder.prismaObject('Instance', {
  description: 'A connected account number of a messaging network.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, to be sent as `instanceId`.' }),
    userId: t.exposeID('userId', { description: 'The id of the user who owns its workspace.' }),
    name: t.exposeString('name', { description: 'Its display name, never to be sent as `instanceId`.' }),
    provider: t.expose('provider', { type: ProviderNameRef, description: 'The network behind it.' }),
    waNumber: t.exposeString('waNumber', {
      nullable: true,
      description: 'The connected number, E.164; null before the first connection.',
    }),
    status: t.expose('status', { type: InstanceStatusRef, description: 'Its status; only a `connected` instance can send.' }),
    webhook: t.expose('webhook', { type: 'JSON', nullable: true, description: 'Reserved; null.' }),
    meta: t.expose('meta', {
      type: 'JSON',
      nullable: true,
      description: 'Details of the account, as the provider reports them.',
    }),
    settings: t.expose('settings', {
      type: 'JSON',
      description: "The provider's own settings, without the secret ones.",
    }),
    callbackUrl: t.string({
      nullable: true,
      description: 'The address that the network calls, to be entered there by hand if need be; null if it calls none.',
      extensions: { columns: ['id', 'provider'] },
      resolve: ({ id, provider }, _, { app }) => callbackUrl(app, provider, id),
    }),
    verifyToken: t.string({
      nullable: true,
      description:
        'The token with which the network verifies `callbackUrl`. Null for networks without one, and for everyone but owners, admins and keys with full access.',
      extensions: { columns: ['id'] },
      resolve: ({ id }, _, ctx) => loadVerifyToken(ctx, id),
    }),
    state: t.field({
      type: InstanceStateRef,
      description: 'The live state of its connection.',
      resolve: (row) => row,
    }),
    deletedAt: t.expose('deletedAt', { type: 'DateTime', nullable: true, description: 'When it was deleted.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

builder.queryFields((t) => ({
  instances: t.prismaField({
    type: ['Instance'],
    extensions: { items: 20 },
    description: 'The instances of the workspace, oldest first, without deleted ones.',
    resolve: (query, _, __, { app, principal }) => app.db.instance.findMany({ ...query, ...allOf(principal) }),
  }),
  instance: t.prismaField({
    type: 'Instance',
    nullable: true,
    description: 'One instance.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId, deletedAt: null }
      return (await app.db.instance.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Instance not found')
    },
  }),
}))

const CreateInstanceInput = defineInput('CreateInstanceInput', 'A new instance.', createInstanceFields)

const UpdateInstanceInput = defineInput(
  'UpdateInstanceInput',
  'Changes to an instance. Omitted fields stay unchanged.',
  updateInstanceFields,
  (value, report) => {
    if (value.name === undefined && value.settings === undefined) report([], 'must change name or settings')
  },
)

const { shape: how } = defineArguments('ConnectArguments', connectFields)

builder.mutationFields((t) => ({
  createInstance: t.field({
    type: InstanceRef,
    description: 'Creates an instance. Connect it afterwards.',
    errors: [
      'MAX_INSTANCES_REACHED',
      'SUBSCRIPTION_INACTIVE',
      { FORBIDDEN: 'for collaborators' },
      { CONFLICT: 'if another instance of the workspace has the number' },
    ],
    authScopes: { active: true },
    args: { input: t.arg({ type: CreateInstanceInput.ref, required: true, description: 'The new record.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'createInstance', input)
      return createInstance(once, newInstanceOf(ctx.app, input))
    },
  }),
  connectInstance: t.field({
    type: InstanceStateRef,
    description: 'Starts to connect an instance; follow the progress with `instanceState`.',
    errors: ['NOT_FOUND', 'SUBSCRIPTION_INACTIVE', { MAX_INSTANCES_REACHED: 'while it rests' }, 'PROVIDER_ERROR'],
    authScopes: { active: true },
    args: {
      id: t.arg.id({ required: true, description: 'The instance.' }),
      phone: t.arg.string({ description: how.phone.description }),
    },
    resolve: (_, args, ctx) => {
      const { id, phone } = parse(connectById, args)
      return connectInstance(ctx, id, phone)
    },
  }),
  updateInstance: t.field({
    type: InstanceRef,
    description:
      'Changes the name or the settings of an instance. The next message has the new settings, and a new token connects a `disconnected` instance.',
    errors: ['NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'PROVIDER_ERROR'],
    args: {
      id: t.arg.id({ required: true, description: 'The instance.' }),
      input: t.arg({ type: UpdateInstanceInput.ref, required: true, description: 'The changes.' }),
    },
    resolve: (_, args, ctx) => updateInstance(ctx, ...parseChange(ctx.app.config, UpdateInstanceInput, args)),
  }),
  logoutInstance: t.field({
    type: InstanceStateRef,
    description: 'Disconnects an instance and deletes its login.',
    errors: ['NOT_FOUND', 'PROVIDER_ERROR', { FORBIDDEN: 'for collaborators' }],
    args: { id: t.arg.id({ required: true, description: 'The instance.' }) },
    resolve: (_, { id }, ctx) => logoutInstance(ctx, parse(uuid, id, 'id')),
  }),
  deleteInstance: t.field({
    type: DeletedRef,
    description: 'Logs out an instance and deletes it. Its messages stay readable.',
    errors: ['NOT_FOUND', 'PROVIDER_ERROR', { FORBIDDEN: 'for collaborators' }],
    args: { id: t.arg.id({ required: true, description: 'The instance.' }) },
    resolve: (_, { id }, ctx) => deleteInstance(ctx, parse(uuid, id, 'id')),
  }),
}))

builder.objectField(UsageRef, 'instances', (t) =>
  t.int({
    description: 'Instances that exist now.',
    resolve: (_, __, { app, principal }) => countInstances(app.db, principal.ownerId),
  }),
)

builder.prismaObjectField(EventRef, 'instance', (t) =>
  t.relation('instance', { nullable: true, description: 'The instance of the event; null for events of contacts.' }),
)

builder.subscriptionField('instances', (t) =>
  t.prismaField({
    type: ['Instance'],
    extensions: { items: 20 },
    description:
      'The instances of the workspace, oldest first, without deleted ones: now, and after one was created, changed its state, name or settings, or was deleted.',
    subscribe: (_, __, { principal }) => followState(subject('instances', principal.workspaceId)),
    resolve: (query, _, __, { app, principal }) => app.db.instance.findMany({ ...query, ...allOf(principal) }),
  }),
)

function allOf({ workspaceId }: Context['principal']) {
  const where = { workspaceId, deletedAt: null }
  return { where, orderBy: [{ createdAt: 'asc' }, { id: 'asc' }] } satisfies Prisma.InstanceFindManyArgs
}
