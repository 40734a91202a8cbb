// Inputs of templates and of their previews, with validation rules.
import { z } from 'zod'
import { defineArguments, defineInput, idempotencyKey } from '../core/graph/input.ts'
import { nameOf, text, textsByName, uuid } from '../core/validation.ts'
import { checkAddress, refuseFile } from '../message-types/fields.ts'
import { templateTypes } from '../message-types/service.ts'
import { needsText } from './policy.ts'

const fields = {
  name: nameOf(200).describe('Its name, 1 to 200 characters, unique in the workspace.'),
  type: z.enum(templateTypes).meta({ id: 'TemplateType', description: 'The type of its messages.' }),
  body: text(0, 4096).describe(
    'The text, up to 4096 characters; for an image, video or document the caption, which is optional; an audio message shows none. It may contain `{{contact.name}}`, `.firstName`, `.lastName`, `.phone`, `.email` and `{{custom.KEY}}` (KEY is 1 to 100 letters, digits, `_` and `-`), each also with a default value: `{{contact.firstName | default: "you"}}`. Other parts of Liquid are not supported: no tags, no other filters.',
  ),
  mediaUrl: text(0, 2048).describe(
    'A public http(s) address of the file, at most 2048 characters. Required for every type but text, which has none.',
  ),
}

const cloud = z
  .object({
    name: text(0, 512).nullish().describe('Its name at Meta: lower-case letters, digits and `_`.'),
    language: text(0, 20).nullish().describe('Its language there, such as `en` or `en_US`.'),
    parameters: z
      .array(text(0, 200))
      .max(100)
      .nullish()
      .describe('The values of `{{1}}`, `{{2}}` … of its body, in this order: `contact.firstName`, `custom.order`.'),
  })
  .meta({
    id: 'CloudTemplateInput',
    description:
      'The template that Meta approved, which an instance of the provider `cloud` sends in place of the text; `name` and `language` are required.',
  })

export const CreateTemplateInput = defineInput(
  'CreateTemplateInput',
  'A new template.',
  z.object({
    ...fields,
    body: fields.body.nullish().describe(fields.body.description as string),
    mediaUrl: fields.mediaUrl.nullish().describe(fields.mediaUrl.description as string),
    cloud: cloud.nullish().describe(cloud.meta()?.description as string),
    idempotencyKey,
  }),
  (value, report, config) => {
    checkAddress(value, report, config)
    if (value.type === 'text') refuseFile(value, report, config)
    const type = templateTypes.find((known) => known === value.type)
    if (type && needsText(type) && (value.body == null || value.body === '')) report(['body'], 'is required')
  },
)

export const UpdateTemplateInput = defineInput(
  'UpdateTemplateInput',
  'Changes to a template. Omitted fields stay unchanged, and the whole template is validated again.',
  z.object({
    name: fields.name.optional().describe('The new name, 1 to 200 characters, unique in the workspace.'),
    type: fields.type.optional().describe('The new type of its messages.'),
    body: fields.body.optional().describe('The new text, with the rules of a new template.'),
    mediaUrl: fields.mediaUrl.nullish().describe('The new file; null removes it.'),
    cloud: cloud.nullish().describe('The template that Meta approved; null removes it.'),
  }),
  (value, report, config) => {
    checkAddress(value, report, config)
    if (value.type === 'text') refuseFile(value, report, config)
    const known = ['name', 'type', 'body', 'mediaUrl', 'cloud'].some((field) => value[field] !== undefined)
    if (!known) report([], 'must change name, type, body, mediaUrl or cloud')
  },
)

/** Values of `custom.*`, for every input that takes them. */
export const variables = textsByName(1024).describe(
  'Values of `custom.*`: texts of at most 1024 characters, numbers or booleans. A null is left out.',
)

/** The REST body of a preview. */
export const PreviewArguments = defineArguments(
  'PreviewArguments',
  z
    .object({
      contactId: uuid.nullish().describe('The contact whose values are used.'),
      variables: variables.nullish().describe('Values of `custom.*`. Values of the contact are used for missing ones.'),
    })
    .describe('The values for a template.'),
)

export type CreateTemplate = ReturnType<typeof CreateTemplateInput.parse>
export type UpdateTemplate = ReturnType<typeof UpdateTemplateInput.parse>
