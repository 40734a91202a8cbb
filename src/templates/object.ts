// GraphQL types of templates and previews.
import { builder } from '../core/graph/builder.ts'
import { registerEnum } from '../core/graph/input.ts'
import { type TemplateType, templateTypes } from '../message-types/service.ts'
import type { CloudTemplate } from './cloud.ts'
import type { Preview } from './preview.ts'

const TemplateTypeRef = builder.enumType('TemplateType', {
  values: templateTypes,
  description: 'The types of messages that a template can have.',
})
registerEnum('TemplateType', TemplateTypeRef)

const CloudTemplateRef = builder.objectRef<CloudTemplate>('CloudTemplate').implement({
  description: 'A template that Meta approved.',
  fields: (t) => ({
    name: t.exposeString('name', { extensions: { bytes: 512 }, description: 'Its name at Meta.' }),
    language: t.exposeString('language', { description: 'Its language there.' }),
    parameters: t.exposeStringList('parameters', {
      extensions: { items: 4, most: 40 },
      description: 'The values of its body, in their order: `contact.firstName`, `custom.order`.',
    }),
  }),
})

// Declares no columns. A row that a mutation returns is therefore shown as it is, and not read again.
export const TemplateRef = builder.prismaObject('Template', {
  description: 'A message with placeholders.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'Its name, unique in the workspace.' }),
    type: t.field({
      type: TemplateTypeRef,
      description: 'The type of its messages.',
      resolve: (row) => row.type as TemplateType,
    }),
    body: t.exposeString('body', {
      extensions: { bytes: 16 * 1024 },
      description: 'The text with its placeholders; `""` for a file without a caption.',
    }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'The file to send; null for a text.' }),
    cloud: t.field({
      type: CloudTemplateRef,
      nullable: true,
      description: 'The template that Meta approved, which an instance of the provider `cloud` sends in place of the text.',
      resolve: (row) => row.cloud as CloudTemplate | null,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

export const PreviewRef = builder.objectRef<Preview>('TemplatePreview').implement({
  description: 'The message that a template produces.',
  fields: (t) => ({
    type: t.expose('type', { type: TemplateTypeRef, description: 'The type of the message.' }),
    body: t.exposeString('body', { description: 'Its text. Placeholders without a value stay as they are.' }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'The file to send.' }),
    missing: t.exposeStringList('missing', {
      extensions: { items: 400 },
      description: 'The missing values, without which it cannot be sent: `custom.order`, `contact.firstName`.',
    }),
  }),
})
