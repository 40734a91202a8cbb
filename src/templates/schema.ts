// GraphQL queries and mutations of templates.
import { z } from 'zod'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { parseChange } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { CreateTemplateInput, PreviewArguments, UpdateTemplateInput } from './input.ts'
import { PreviewRef, TemplateRef } from './object.ts'
import { maxTemplates } from './policy.ts'
import { previewTemplate } from './preview.ts'
import { createTemplate, deleteTemplate, updateTemplate } from './service.ts'

builder.queryFields((t) => ({
  templates: t.prismaField({
    type: ['Template'],
    extensions: { items: maxTemplates },
    description: 'The templates of the workspace, oldest first.',
    resolve: (query, _, __, { app, principal }) =>
      app.db.template.findMany({
        ...query,
        where: { workspaceId: principal.workspaceId },
        orderBy: [{ createdAt: 'asc' }, { id: 'asc' }],
      }),
  }),
  template: t.prismaField({
    type: 'Template',
    nullable: true,
    description: 'One template.',
    errors: ['NOT_FOUND'],
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: async (query, _, args, { app, principal }) => {
      const where = { id: parse(uuid, args.id, 'id'), workspaceId: principal.workspaceId }
      return (await app.db.template.findFirst({ ...query, where })) ?? fail('NOT_FOUND', 'Template not found')
    },
  }),
}))

const given = PreviewArguments.shape
const previewArgs = z.object({ id: uuid, ...given })

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The template.' })
  return {
    createTemplate: t.field({
      type: TemplateRef,
      description: 'Creates a template, up to 1,000 in a workspace.',
      errors: [
        'SUBSCRIPTION_INACTIVE',
        'TEMPLATE_INVALID',
        { CONFLICT: 'if the name is taken' },
        { INVALID_STATE: 'if the workspace has 1,000' },
      ],
      authScopes: { active: true },
      args: { input: t.arg({ type: CreateTemplateInput.ref, required: true, description: 'The new record.' }) },
      resolve: async (_, { input }, ctx) =>
        await createTemplate(keyed(ctx, 'createTemplate', input), CreateTemplateInput.parse(ctx.app.config, input)),
    }),
    updateTemplate: t.field({
      type: TemplateRef,
      description: 'Updates a template. Messages and campaigns that used it stay unchanged.',
      errors: ['NOT_FOUND', 'TEMPLATE_INVALID', 'CONFLICT'],
      args: { id, input: t.arg({ type: UpdateTemplateInput.ref, required: true, description: 'The changes.' }) },
      resolve: async (_, args, ctx) => await updateTemplate(ctx, ...parseChange(ctx.app.config, UpdateTemplateInput, args)),
    }),
    deleteTemplate: t.field({
      type: DeletedRef,
      description: 'Deletes a template. Messages and campaigns that used it stay unchanged.',
      errors: ['NOT_FOUND'],
      args: { id },
      resolve: (_, args, ctx) => deleteTemplate(ctx, parse(uuid, args.id, 'id')),
    }),
    previewTemplate: t.field({
      type: PreviewRef,
      description: 'Shows the message that a template produces, and the missing values.',
      errors: ['NOT_FOUND', { TEMPLATE_INVALID: 'if the text is too long for its type' }],
      args: {
        id,
        contactId: t.arg.id({ description: given.contactId.description }),
        variables: t.arg({ type: 'JSON', description: given.variables.description }),
      },
      resolve: (_, args, ctx) => {
        const { id, contactId, variables } = parse(previewArgs, args)
        return previewTemplate(ctx, id, contactId ?? null, variables ?? null)
      },
    }),
  }
})
