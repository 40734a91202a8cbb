// Inputs for sending messages: the nine types, the limits of every field, and validation errors that name the field.
import { z } from 'zod'
import { builder } from '../core/graph/builder.ts'
import { defineInput, idempotencyKey, type Rules, registerEnum } from '../core/graph/input.ts'
import { phone } from '../core/phone.ts'
import { isLonger, moment, text, uuid } from '../core/validation.ts'
import { checkMediaUrl } from '../media/url.ts'
import { variables } from '../templates/service.ts'

export const sendTypes = ['text', 'image', 'video', 'audio', 'voice_note', 'document', 'location', 'contact', 'buttons'] as const
export type SendType = (typeof sendTypes)[number]

const button = z
  .object({
    type: z.literal('reply', { error: 'must be reply' }).describe('Always `reply`.'),
    displayText: text(1, 20).describe('What the button says, 1 to 20 characters.'),
    id: text(1, 256).describe('What comes back when it is pressed, 1 to 256 characters, unique in the message.'),
  })
  .meta({ id: 'ButtonInput', description: 'A quick-reply button.' })

export const messageFields = {
  instanceId: uuid.describe('The instance to send through.'),
  to: phone.describe('The recipient, in E.164.'),
  type: z.enum(sendTypes).meta({ id: 'SendType' }).nullish().describe('What to send; left out when a template is given.'),
  templateId: uuid
    .nullish()
    .describe("The template to fill in instead of a type: the message has the template's type, text and file."),
  contactId: uuid
    .nullish()
    .describe(
      "The contact to share (type contact), or the one a template speaks of: where it is left out, the workspace's contact of the number, if there is one.",
    ),
  variables: variables
    .nullish()
    .describe('Values of `custom.*` in a template, each at most 1024 characters; what they lack comes from the contact.'),
  text: text(0, 4096)
    .nullish()
    .describe('The text, 1 to 4096 characters; the caption of an image, video or document, up to 1024.'),
  mediaUrl: text(0, 2048).nullish().describe('A public http(s) address of the file, at most 2048 characters.'),
  latitude: z.number().min(-90).max(90).nullish().describe('Decimal degrees, -90 to 90.'),
  longitude: z.number().min(-180).max(180).nullish().describe('Decimal degrees, -180 to 180.'),
  locationName: text(0, 1024).nullish().describe('What the place is called.'),
  locationAddress: text(0, 1024).nullish().describe('Where the place is, in words.'),
  title: text(0, 60).nullish().describe('Heading of a buttons message, up to 60 characters.'),
  description: text(0, 1024).nullish().describe('Text of a buttons message, 1 to 1024 characters.'),
  footer: text(0, 60).nullish().describe('Small print of a buttons message, up to 60 characters.'),
  buttons: z.array(button).nullish().describe('1 to 3 buttons.'),
  idempotencyKey,
}

export type MessageFields = z.output<z.ZodObject<typeof messageFields>>

const required: Record<SendType, readonly (keyof MessageFields)[]> = {
  text: ['text'],
  image: ['mediaUrl'],
  video: ['mediaUrl'],
  audio: ['mediaUrl'],
  voice_note: ['mediaUrl'],
  document: ['mediaUrl'],
  location: ['latitude', 'longitude'],
  contact: ['contactId'],
  buttons: ['description', 'buttons'],
}

/** Rules that span several fields of one message. */
const rules: Rules = (value, report, config) => {
  const input = value as Partial<MessageFields>
  const { type, templateId } = input
  if (type != null && templateId != null) report(['templateId'], 'cannot be given together with type')
  if (type == null && templateId == null) report(['type'], 'is required, unless templateId is given')
  if (type == null || !sendTypes.includes(type)) return
  for (const field of required[type]) {
    if (input[field] == null || input[field] === '') report([field], 'is required')
  }
  if (['image', 'video', 'document'].includes(type) && typeof input.text === 'string' && isLonger(input.text, 1024)) {
    report(['text'], 'must have at most 1024 characters as a caption')
  }
  if (required[type].includes('mediaUrl') && typeof input.mediaUrl === 'string') {
    const fault = checkMediaUrl(input.mediaUrl, config)
    if (fault) report(['mediaUrl'], fault)
  }
  if (type === 'buttons' && Array.isArray(input.buttons)) checkButtons(input.buttons, report)
}

function checkButtons(buttons: readonly unknown[], report: Parameters<Rules>[1]): void {
  if (buttons.length < 1 || buttons.length > 3) report(['buttons'], 'must have 1 to 3 items')
  const ids = new Set<unknown>()
  for (const [index, item] of buttons.entries()) {
    const id: unknown = (item as { id?: unknown } | null)?.id
    if (id !== undefined && ids.has(id)) report(['buttons', index, 'id'], 'must be unique in the message')
    ids.add(id)
  }
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

registerEnum('SendType', builder.enumType('SendType', { values: sendTypes, description: 'What can be sent.' }))

export const SendMessageInput = defineInput(
  'SendMessageInput',
  'A message to send now: a type with its fields, or a template.',
  z.object({ ...messageFields, scheduledAt: z.never({ error: 'is only for scheduled messages' }).optional() }),
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
  'Up to 1000 messages, each judged alone.',
  z.object({
    messages: z
      .array(z.unknown().meta({ anyOf: ['SendMessageInput', 'ScheduleMessageInput'].map(inDocument) }))
      .min(1)
      .max(1000)
      .describe(
        '1 to 1000 messages, each with the fields of SendMessageInput, or of ScheduleMessageInput where it has `scheduledAt`.',
      ),
    idempotencyKey: messageFields.idempotencyKey,
  }),
)
