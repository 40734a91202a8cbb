// GraphQL schema of importing templates: types and mutation.
import { z } from 'zod'
import { builder } from '../core/graph/builder.ts'
import { defineArguments } from '../core/graph/input.ts'
import { parse, uuid } from '../core/validation.ts'
import type { TemplateImport } from '../templates/import.ts'
import { importFrom } from './import-templates.ts'

const SkippedTemplateRef = builder.objectRef<TemplateImport['skipped'][number]>('SkippedTemplate').implement({
  description: 'An approved template that was not imported.',
  fields: (t) => ({
    name: t.exposeString('name', { extensions: { bytes: 512 }, description: 'Its name at the network.' }),
    reason: t.exposeString('reason', { description: 'The reason, in words.' }),
  }),
})

const TemplateImportRef = builder.objectRef<TemplateImport>('TemplateImport').implement({
  description: 'The result of an import.',
  fields: (t) => ({
    created: t.exposeInt('created', { description: 'The number of new templates.' }),
    updated: t.exposeInt('updated', {
      description: 'The number of templates that an earlier import made, and which are current again.',
    }),
    skipped: t.field({
      type: [SkippedTemplateRef],
      extensions: { items: 100 },
      description: 'Those that were left out, each with the reason.',
      resolve: ({ skipped }) => skipped,
    }),
  }),
})

const { shape } = defineArguments(
  'ImportTemplatesArguments',
  z
    .object({ instanceId: uuid.describe('The instance whose account has the templates.') })
    .describe('The instance to import from.'),
)

builder.mutationField('importCloudTemplates', (t) =>
  t.field({
    type: TemplateImportRef,
    description:
      'Makes one template of each that Meta approved for the account of an instance, or changes the one that an earlier import made: `{{1}}` becomes `{{custom.1}}`. A second language is named `name (it)`. A network without approved templates has none to import.',
    errors: ['NOT_FOUND', 'SUBSCRIPTION_INACTIVE', 'PROVIDER_ERROR'],
    authScopes: { active: true },
    args: { instanceId: t.arg.id({ required: true, description: shape.instanceId.description }) },
    resolve: (_, args, ctx) => importFrom(ctx, parse(uuid, args.instanceId, 'instanceId')),
  }),
)
