// GraphQL types of templates and previews.
import { builder } from '../core/graph/builder.ts'
import { registerEnum } from '../core/graph/input.ts'
import { type TemplateType, templateTypes } from '../message-types/service.ts'
import type { Preview } from './preview.ts'

const TemplateTypeRef = builder.enumType('TemplateType', { values: templateTypes, description: 'What a template can become.' })
registerEnum('TemplateType', TemplateTypeRef)

// Declares no columns. A row that a mutation returns is therefore shown as it is, and not read again.
export const TemplateRef = builder.prismaObject('Template', {
  description: 'A message to be filled in.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    name: t.exposeString('name', { description: 'What people call it, unique in the workspace.' }),
    type: t.field({
      type: TemplateTypeRef,
      description: 'What messages made of it are.',
      resolve: (row) => row.type as TemplateType,
    }),
    body: t.exposeString('body', {
      extensions: { bytes: 16 * 1024 },
      description: 'The text with its placeholders, `""` where a medium goes without.',
    }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'The file that is sent; null in a text.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When it last changed.' }),
  }),
})

export const PreviewRef = builder.objectRef<Preview>('TemplatePreview').implement({
  description: 'The message that a template would become.',
  fields: (t) => ({
    type: t.expose('type', { type: TemplateTypeRef, description: 'What the message would be.' }),
    body: t.exposeString('body', { description: 'Its text; placeholders without a value stay as they were written.' }),
    mediaUrl: t.exposeString('mediaUrl', { nullable: true, description: 'The file that would be sent.' }),
    missing: t.exposeStringList('missing', {
      extensions: { items: 400 },
      description: 'The values without which it cannot be sent: `custom.order`, `contact.firstName`.',
    }),
  }),
})
