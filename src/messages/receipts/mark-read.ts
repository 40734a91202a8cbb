// Marks a received message as read: a job tells its network.
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { builder } from '../../core/graph/builder.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { defineJob, enqueue, implementJob, type JobImplementation } from '../../core/jobs/jobs.ts'
import { parse, uuid } from '../../core/validation.ts'
import type { Message } from '../../generated/prisma/client.ts'
import { providerOf } from '../../providers/providers.ts'
import { instanceOf } from '../instance-of.ts'
import { MessageRef } from '../object.ts'
import { readReceived } from './mark-read.sql.ts'

const readJob = defineJob({
  name: 'messages.read',
  schema: z.object({ id: z.string() }),
  // For a minute, in which an instance that reconnects is open again.
  options: { retryLimit: 60, retryDelay: 1, heartbeatSeconds: 10, expireInSeconds: 60, deleteAfterSeconds: 60 },
})

/**
 * Tells the network, soon after this returns, that a received message was read.
 * @throws NOT_FOUND when the workspace has no such message, INVALID_STATE when it was sent and not received.
 */
async function markRead(ctx: Context, id: string): Promise<Message> {
  return await write(ctx, async (tx) => {
    const found = await tx.db.message.findFirst({ where: { id, workspaceId: ctx.principal.workspaceId } })
    if (!found) fail('NOT_FOUND', 'Message not found')
    if (found.direction !== 'inbound') fail('INVALID_STATE', 'Only a received message can be marked as read')
    await enqueue(ctx.app, tx, readJob, [{ data: { id }, group: found.instanceId }])
    return found
  })
}

export const readImplementation: JobImplementation = implementJob(
  readJob,
  { batchSize: 1, workers: 3, mostWorkers: 60, perGroup: 1 },
  (app, jobs) => Promise.all(jobs.map(({ id }) => tell(app, id))),
)

/** Returns an Error if the network is to be told again later. */
async function tell(app: App, id: string): Promise<Error | undefined> {
  const received = await readReceived(app.pool, id)
  if (!received) return undefined
  const provider = providerOf(app, received.provider)
  // While an upgrade is under way, another process may know the network.
  if (!provider) return new Error('the network is not known here')
  // A network without read receipts, such as the sandbox, has nothing to be told.
  if (!provider.markRead) return undefined
  const { providerMessageId, from } = received
  const told = await provider.markRead(instanceOf(received), { providerMessageId, from })
  if (told.outcome === 'refused') app.log.info({ messageId: id, reason: told.detail }, 'a message could not be marked as read')
  return told.outcome === 'retry' ? new Error(told.detail) : undefined
}

builder.mutationField('markRead', (t) =>
  t.field({
    type: MessageRef,
    description: 'Tells the network that a received message was read.',
    errors: ['NOT_FOUND', { INVALID_STATE: 'if the message was sent, not received' }],
    authScopes: { active: true },
    args: { id: t.arg.id({ required: true, description: 'The message.' }) },
    resolve: (_, { id }, ctx) => markRead(ctx, parse(uuid, id, 'id')),
  }),
)
