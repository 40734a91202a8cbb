// Inputs of templates and of their previews, with validation rules.
import { z } from 'zod'
import { defineArguments, defineInput, idempotencyKey } from '../core/graph/input.ts'
import { jsonObject, text, uuid } from '../core/validation.ts'
import { checkFile } from '../message-types/fields.ts'
import { templateTypes } from '../message-types/service.ts'
import { needsText } from './policy.ts'

const fields = {
  name: text(1, 200).describe('What people call it, 1 to 200 characters, unique in the workspace.'),
  type: z.enum(templateTypes).meta({ id: 'TemplateType', description: 'What messages made of it are.' }),
  body: text(0, 4096).describe(
    'The text, up to 4096 characters; of an image, video or document the caption, which a medium may go without; an audio shows none. It may hold `{{contact.name}}`, `.firstName`, `.lastName`, `.phone`, `.email` and `{{custom.KEY}}` (a KEY is 1 to 100 letters, digits, `_` and `-`), each also with a text to stand in where there is no value: `{{contact.firstName | default: "you"}}`. Nothing else of Liquid is known: no tags, no other filters.',
  ),
  mediaUrl: text(0, 2048).describe(
    'A public http(s) address of the file, at most 2048 characters: needed by every type but text, which has none.',
  ),
}

export const CreateTemplateInput = defineInput(
  'CreateTemplateInput',
  'A new template.',
  z.object({
    ...fields,
    body: fields.body.nullish().describe(fields.body.description as string),
    mediaUrl: fields.mediaUrl.nullish().describe(fields.mediaUrl.description as string),
    idempotencyKey,
  }),
  (value, report, config) => {
    checkFile(value, report, config)
    const type = templateTypes.find((known) => known === value.type)
    if (type && needsText(type) && (value.body == null || value.body === '')) report(['body'], 'is required')
  },
)

export const UpdateTemplateInput = defineInput(
  'UpdateTemplateInput',
  'What to change about a template; what is left out stays, and the template as a whole is judged as a new one is.',
  z.object({
    name: fields.name.optional().describe('What people call it from now on, 1 to 200 characters, unique in the workspace.'),
    type: fields.type.optional().describe('What messages made of it are from now on.'),
    body: fields.body.optional().describe('Its text from now on; the rules are those of a new template.'),
    mediaUrl: fields.mediaUrl.nullish().describe('Its file from now on; null takes it away.'),
  }),
  (value, report, config) => {
    checkFile(value, report, config)
    const known = ['name', 'type', 'body', 'mediaUrl'].some((field) => value[field] !== undefined)
    if (!known) report([], 'must change name, type, body or mediaUrl')
  },
)

/** Values of `custom.*`, for every input that takes them. */
export const variables = jsonObject(text(0, 1024)).describe('Values of `custom.*`, each at most 1024 characters.')

/** The REST body of a preview. */
export const PreviewArguments = defineArguments(
  'PreviewArguments',
  z
    .object({
      contactId: uuid.nullish().describe('The contact it speaks of.'),
      variables: variables.nullish().describe('Values of `custom.*`; what they lack comes from the contact.'),
    })
    .describe('What a template is filled in with.'),
)

export type CreateTemplate = ReturnType<typeof CreateTemplateInput.parse>
export type UpdateTemplate = ReturnType<typeof UpdateTemplateInput.parse>
