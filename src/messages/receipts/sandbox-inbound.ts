// Lets a caller play the other party on the sandbox network: stores an inbound message as if the network had delivered it.
import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { builder } from '../../core/graph/builder.ts'
import { defineInput, idempotencyKey, parseChange, type Rules, registerEnum } from '../../core/graph/input.ts'
import { newId } from '../../core/id.ts'
import { keyed, write } from '../../core/idempotency/idempotency.ts'
import { phone } from '../../core/phone.ts'
import { text } from '../../core/validation.ts'
import type { Message } from '../../generated/prisma/client.ts'
import { checkAddress } from '../../message-types/fields.ts'
import type { InboundContent, InboundKind, InboundMessage } from '../../providers/reports.ts'
import { MessageRef } from '../object.ts'
import { receiveIn } from './inbound.ts'

const files = ['image', 'video', 'audio', 'voice_note', 'document'] as const
const types = ['text', ...files, 'location', 'contact', 'unknown'] as const

registerEnum(
  'InboundType',
  builder.enumType('InboundType', { values: types, description: 'The types of messages that come in.' }),
)

const fields = {
  from: phone.describe('The sender, E.164.'),
  type: z.enum(types).meta({ id: 'InboundType' }).nullish().describe('The type of the message; `text` by default.'),
  text: text(0, 4096).nullish().describe('The text, the caption, or the name of the shared contact.'),
  buttonId: text(1, 256).nullish().describe('The id of the button that was chosen; `text` is its label.'),
  mediaUrl: text(0, 2048).nullish().describe('The address of the file.'),
  latitude: z.number().min(-90).max(90).nullish().describe('Decimal degrees, -90 to 90.'),
  longitude: z.number().min(-180).max(180).nullish().describe('Decimal degrees, -180 to 180.'),
  phone: phone.nullish().describe('The number of the shared contact, E.164.'),
  replyTo: text(1, 256).nullish().describe('The `providerMessageId` of the message that this one answers.'),
  idempotencyKey,
}

/** A Map, because the rules meet every value: in an object, `constructor` would have a value too. */
const required = new Map<unknown, readonly string[]>([
  ...files.map((type) => [type, ['mediaUrl']] as const),
  ['location', ['latitude', 'longitude']],
  ['contact', ['text', 'phone']],
])

const rules: Rules = (value, report, config) => {
  const type = value.type ?? 'text'
  const needed = type === 'text' && value.buttonId == null ? ['text'] : (required.get(type) ?? [])
  for (const field of needed) if (value[field] == null || value[field] === '') report([field], 'is required')
  if (type !== 'text' && value.buttonId != null) report(['buttonId'], 'is only for type text')
  checkAddress(value, report, config)
}

const SandboxInboundInput = defineInput(
  'SandboxInboundInput',
  'A message that comes in on the sandbox network.',
  z.object(fields),
  rules,
)
type Input = ReturnType<typeof SandboxInboundInput.parse>

/**
 * Stores the message with everything that follows from it: its event, the keywords, the contact.
 * @throws NOT_FOUND when the workspace has no such instance, INVALID_STATE when it is not on the sandbox network.
 */
async function receive(ctx: Context, id: string, input: Input): Promise<Message> {
  const { app, principal } = ctx
  const message = await write(ctx, async (tx) => {
    const where = { id, workspaceId: principal.workspaceId, deletedAt: null }
    const instance = await tx.db.instance.findFirst({ where, select: { provider: true } })
    if (!instance) fail('NOT_FOUND', 'Instance not found')
    if (instance.provider !== 'sandbox')
      fail('INVALID_STATE', `The instance is on the network ${instance.provider}, not on the sandbox`)
    const [stored] = await receiveIn(app, tx, [inboundOf(id, input)])
    // The instance may have been deleted since.
    return stored ? await tx.db.message.findUniqueOrThrow({ where: { id: stored.id } }) : fail('NOT_FOUND', 'Instance not found')
  })
  app.signals.emit('outbox')
  return message
}

function inboundOf(instanceId: string, input: Input): InboundMessage {
  const { from, buttonId, mediaUrl } = input
  const type = input.type ?? 'text'
  const body = input.text ?? buttonId ?? ''
  const content: InboundContent = { kind: kindOf(input), replyTo: input.replyTo ?? undefined }
  const message = { instanceId, providerMessageId: `sandbox.in.${newId()}`, from, type, body, at: new Date() }
  if (buttonId != null) content.buttonId = buttonId
  // The rules ensure the fields of each type.
  if (type === 'contact') content.contacts = [{ name: body, phone: input.phone ?? null }]
  if (type === 'location') {
    const { latitude, longitude } = input
    Object.assign(content, { latitude, longitude, name: body || null, address: null })
  }
  if (!files.some((file) => file === type)) return { ...message, content }
  const url = mediaUrl ?? ''
  return { ...message, content, media: { reference: url, mimeType: null, fileName: null, url } }
}

function kindOf({ type, buttonId }: Input): InboundKind {
  if (buttonId != null) return 'button'
  return type === 'unknown' ? 'unsupported' : (type ?? 'text')
}

builder.mutationField('receiveInSandbox', (t) =>
  t.field({
    type: MessageRef,
    description:
      'Lets a message come in on an instance of the sandbox, as if `from` had sent it, to try out replies, buttons and keywords. It has the events of every inbound message.',
    errors: ['NOT_FOUND', { INVALID_STATE: 'if the instance is not on the sandbox network' }],
    args: {
      id: t.arg.id({ required: true, description: 'The instance.' }),
      input: t.arg({ type: SandboxInboundInput.ref, required: true, description: 'The message.' }),
    },
    resolve: (_, args, ctx) => {
      const once = keyed(ctx, 'receiveInSandbox', args.input)
      return receive(once, ...parseChange(ctx.app.config, SandboxInboundInput, args))
    },
  }),
)
