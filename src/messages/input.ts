// Inputs for sending messages: the fields of all messages, and those of every type.
import { z } from 'zod'
import { builder } from '../core/graph/builder.ts'
import { defineInput, idempotencyKey, type Rules, registerEnum } from '../core/graph/input.ts'
import { phone } from '../core/phone.ts'
import { moment, text, uuid } from '../core/validation.ts'
import { rowOf, sendTypes, typeFields } from '../message-types/service.ts'
import { variables } from '../templates/input.ts'

// Templates speak of a contact as well, so the document names it before the fields of the types.
const { contactId, ...ofTypes } = typeFields

export const messageFields = {
  instanceId: uuid.describe('The instance that sends the message.'),
  to: phone.describe('The recipient, in E.164.'),
  type: z.enum(sendTypes).meta({ id: 'SendType' }).nullish().describe('The type of the message; omitted with a template.'),
  templateId: uuid
    .nullish()
    .describe("The template to use instead of a type: the message has the template's type, text and file."),
  contactId,
  variables: variables
    .nullish()
    .describe(
      'Values of `custom.*` in a template, each at most 1024 characters. Values of the contact are used for missing ones.',
    ),
  ...ofTypes,
  reference: text(1, 255)
    .nullish()
    .describe('Your own name for the message, such as an order number, 1 to 255 characters; its events carry it.'),
  idempotencyKey,
}

export type MessageFields = z.output<z.ZodObject<typeof messageFields>>

/** A message has a type or a template, and with a type what its row in the table asks for. */
const rules: Rules = (value, report, config) => {
  const { type, templateId } = value
  if (type != null && templateId != null) report(['templateId'], 'cannot be given together with type')
  if (type == null && templateId == null) report(['type'], 'is required, unless templateId is given')
  if (type == null && templateId != null && value.text) report(['text'], 'cannot be given together with templateId')
  const row = rowOf(type)
  if (!row) return
  for (const field of row.required) {
    if (value[field] == null || value[field] === '') report([field], 'is required')
  }
  row.check?.(value, report, config)
}

/** The same date and time one year later, in milliseconds since 1970. */
function yearAfter(now: number): number {
  return new Date(now).setUTCFullYear(new Date(now).getUTCFullYear() + 1)
}

/** The rules of {@link rules} and, if `scheduledAt` is present, the rules for its time. */
export const scheduleRules: Rules = (value, report, config) => {
  rules(value, report, config)
  const at = typeof value.scheduledAt === 'string' ? Date.parse(value.scheduledAt) : Number.NaN
  const now = Date.now()
  if (at <= now) report(['scheduledAt'], 'must be in the future')
  if (at > yearAfter(now)) report(['scheduledAt'], 'must be at most one year ahead')
}

registerEnum(
  'SendType',
  builder.enumType('SendType', { values: sendTypes, description: 'The types of messages that can be sent.' }),
)

export const SendMessageInput = defineInput(
  'SendMessageInput',
  'A message to send now: a type with its fields, or a template.',
  z.object({ ...messageFields, scheduledAt: z.never({ error: 'is only for scheduled messages' }).nullish() }),
  rules,
)

export const ScheduleMessageInput = defineInput(
  'ScheduleMessageInput',
  'A message to send later.',
  z.object({
    ...messageFields,
    scheduledAt: moment.describe('When to send it: ISO 8601 with an offset, in the future, at most one year ahead.'),
  }),
  scheduleRules,
)

/** The `$ref` to an input in the OpenAPI document. */
function inDocument(name: string) {
  return { $ref: `#/components/schemas/${name}` }
}

export const SendMessagesInput = defineInput(
  'SendMessagesInput',
  'Up to 1000 messages, each accepted or refused separately.',
  z.object({
    messages: z
      .array(z.unknown().meta({ anyOf: ['SendMessageInput', 'ScheduleMessageInput'].map(inDocument) }))
      .min(1)
      .max(1000)
      .describe(
        '1 to 1000 messages, each with the fields of SendMessageInput, or of ScheduleMessageInput if it has `scheduledAt`. The `idempotencyKey` of a message counts if the bulk has none.',
      ),
    idempotencyKey: messageFields.idempotencyKey,
  }),
)
