// GraphQL fields of the do-not-contact list and of its settings.
import { builder } from '../core/graph/builder.ts'
import { connectionOf } from '../core/graph/connection.ts'
import { registerEnum } from '../core/graph/input.ts'
import { readList } from '../core/graph/list.ts'
import { tableOf } from '../core/graph/table.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { phone } from '../core/phone.ts'
import { parse } from '../core/validation.ts'
import type { Suppression } from '../generated/prisma/client.ts'
import type { SuppressionReason } from '../generated/prisma/enums.ts'
import { borrowFile } from '../media/receive.ts'
import { type Imported, importSuppressions } from './import.ts'
import { CreateSuppressionInput, ImportSuppressionsInput, UpdateSuppressionSettingsInput } from './input.ts'
import { type Added, createSuppression, deleteSuppression } from './service.ts'
import { readSettings, type Settings, updateSettings } from './settings.ts'

const SuppressionReasonRef = builder.enumType('SuppressionReason', {
  description: 'The first reason for which a number is in the do-not-contact list.',
  values: {
    manual: { description: 'Somebody of the workspace added it, or imported it.' },
    keyword: { description: 'Its owner sent one of the keywords.' },
    network: { description: 'The network said that its owner wants no messages.' },
  } satisfies Record<keyof typeof SuppressionReason, object>,
})
registerEnum('SuppressionReason', SuppressionReasonRef)

const words = {
  phone: 'The number, E.164.',
  reason: 'The first reason.',
  createdAt: 'When it was added.',
}

const SuppressionRef = builder.prismaObject('Suppression', {
  description: 'A number that gets no messages from the workspace.',
  fields: (t) => ({
    phone: t.exposeString('phone', { description: words.phone }),
    reason: t.expose('reason', { type: SuppressionReasonRef, description: words.reason }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: words.createdAt }),
  }),
})

const AddedRef = builder.objectRef<Added>('CreatedSuppression').implement({
  description: 'A number of the do-not-contact list, and whether it was there before.',
  fields: (t) => ({
    phone: t.exposeString('phone', { description: words.phone }),
    reason: t.expose('reason', { type: SuppressionReasonRef, description: words.reason }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: words.createdAt }),
    existing: t.exposeBoolean('existing', { description: 'True if it was there before; then this is its first record.' }),
  }),
})

const DeletedSuppressionRef = builder.objectRef<{ phone: string; deleted: true }>('DeletedSuppression').implement({
  description: 'A number that was taken out.',
  fields: (t) => ({
    phone: t.exposeString('phone', { description: words.phone }),
    deleted: t.exposeBoolean('deleted', { description: 'Always true.' }),
  }),
})

const ImportedRef = builder.objectRef<Imported>('ImportedSuppressions').implement({
  description: 'The lines of an import, counted.',
  fields: (t) => ({
    added: t.exposeInt('added', { description: 'Numbers that were added.' }),
    existing: t.exposeInt('existing', { description: 'Numbers that were there before, also earlier in the file.' }),
    invalid: t.exposeInt('invalid', { description: 'Lines that are no number in E.164.' }),
  }),
})

const SettingsRef = builder.objectRef<Settings>('SuppressionSettings').implement({
  description: 'The texts by which people take themselves out, and what they get for it.',
  fields: (t) => ({
    keywords: t.exposeStringList('keywords', {
      extensions: { items: 50 },
      description: 'An inbound text that is exactly one of these, in any case, adds its sender. `START` takes it out again.',
    }),
    reply: t.exposeString('reply', {
      nullable: true,
      extensions: { bytes: 16 * 1024 },
      description: 'The text that a sender gets who was added; null for none.',
    }),
  }),
})

const { connection: SuppressionConnection } = connectionOf(SuppressionRef)
const table = tableOf('Suppression', 'suppressions')

builder.queryFields((t) => ({
  suppressions: t.connection(
    {
      type: SuppressionRef,
      extensions: { page: 50 },
      description: 'The do-not-contact list of the workspace, newest first; 50 a page, at most 100.',
      resolve: (_, args, ctx, info) => {
        const { workspaceId } = ctx.principal
        return readList<Suppression>(ctx, info, args, {
          table,
          of: ['workspaceId', workspaceId],
          binding: ['suppressions', workspaceId],
        })
      },
    },
    SuppressionConnection,
  ),
  suppressionSettings: t.field({
    type: SettingsRef,
    description:
      'The keywords of the workspace and the reply to them. A new workspace has `STOP` and `UNSUBSCRIBE`, and no reply.',
    resolve: (_, __, ctx) => readSettings(ctx),
  }),
}))

builder.mutationFields((t) => ({
  createSuppression: t.field({
    type: AddedRef,
    description:
      'Adds a number to the do-not-contact list. No message leaves to it from then on, also none that is queued, scheduled or planned by a campaign. A number that is there already keeps its first record.',
    errors: ['SUBSCRIPTION_INACTIVE'],
    authScopes: { active: true },
    args: { input: t.arg({ type: CreateSuppressionInput.ref, required: true, description: 'The number.' }) },
    resolve: (_, { input }, ctx) => {
      const once = keyed(ctx, 'createSuppression', input)
      return createSuppression(once, CreateSuppressionInput.parse(ctx.app.config, input))
    },
  }),
  deleteSuppression: t.field({
    type: DeletedSuppressionRef,
    description: 'Takes a number out of the do-not-contact list, whatever the reason.',
    errors: ['NOT_FOUND'],
    args: { phone: t.arg.string({ required: true, description: words.phone }) },
    resolve: (_, args, ctx) => deleteSuppression(ctx, parse(phone, args.phone, 'phone')),
  }),
  importSuppressions: t.field({
    type: ImportedRef,
    description: 'Adds the numbers of a file with one number a line, at most 100,000 lines.',
    errors: [{ NOT_FOUND: 'if the uploaded file does not exist' }, 'SUBSCRIPTION_INACTIVE'],
    authScopes: { active: true },
    args: { input: t.arg({ type: ImportSuppressionsInput.ref, required: true, description: 'The file.' }) },
    resolve: async (_, { input }, ctx) => {
      const once = keyed(ctx, 'importSuppressions', input)
      const { text, mediaId } = ImportSuppressionsInput.parse(ctx.app.config, input)
      if (mediaId == null) return await importSuppressions(once, { text: text ?? '' })
      await using file = await borrowFile(ctx, mediaId)
      return await importSuppressions(once, file)
    },
  }),
  updateSuppressionSettings: t.field({
    type: SettingsRef,
    description: 'Changes the keywords or the reply.',
    args: { input: t.arg({ type: UpdateSuppressionSettingsInput.ref, required: true, description: 'The changes.' }) },
    resolve: (_, { input }, ctx) => updateSettings(ctx, UpdateSuppressionSettingsInput.parse(ctx.app.config, input)),
  }),
}))
