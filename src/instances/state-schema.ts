// GraphQL schema of the connection state of instances: types and subscription.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { parse, uuid } from '../core/validation.ts'
import { followState, subject } from '../events/live/follow.ts'
import type { Instance } from '../generated/prisma/client.ts'
import { InstanceStatus } from '../generated/prisma/enums.ts'

export const InstanceStatusRef = builder.enumType('InstanceStatus', {
  description: 'The connection status of an instance.',
  values: Object.values(InstanceStatus),
})

const stateColumns = {
  id: true,
  status: true,
  qr: true,
  pairingCode: true,
  lastConnectedAt: true,
  lastDisconnectedAt: true,
  lastError: true,
} as const

type StateRow = Pick<Instance, keyof typeof stateColumns>

export const InstanceStateRef = builder.objectRef<StateRow>('InstanceState').implement({
  description: 'The connection state of an instance.',
  fields: (t) => ({
    instanceId: t.exposeID('id', { description: 'The instance.' }),
    status: t.field({ type: InstanceStatusRef, description: 'Its status.', resolve: (row) => row.status }),
    connected: t.boolean({ description: 'True if it can send now.', resolve: (row) => row.status === 'connected' }),
    qr: t.exposeString('qr', { nullable: true, description: 'The text to show as a QR code while pairing.' }),
    pairingCode: t.exposeString('pairingCode', { nullable: true, description: 'The code to enter on the phone while pairing.' }),
    lastConnectedAt: t.expose('lastConnectedAt', { type: 'DateTime', nullable: true, description: 'When it last connected.' }),
    lastDisconnectedAt: t.expose('lastDisconnectedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it last lost its connection.',
    }),
    lastError: t.exposeString('lastError', { nullable: true, description: 'The last error.' }),
  }),
})

builder.subscriptionField('instanceState', (t) =>
  t.field({
    type: InstanceStateRef,
    description: 'The state of an instance: now, and after every change.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'The instance.' }) },
    subscribe: async (_, args, ctx) => {
      const id = parse(uuid, args.id, 'id')
      await readState(ctx, id)
      return followState(subject('instance', id))
    },
    resolve: (_, { id }, ctx) => readState(ctx, id),
  }),
)

async function readState({ app, principal }: Context, id: string): Promise<StateRow> {
  const where = { id, workspaceId: principal.workspaceId, deletedAt: null }
  return (await app.db.instance.findFirst({ where, select: stateColumns })) ?? fail('NOT_FOUND', 'Instance not found')
}
