// GraphQL type, query and mutation of the retention of a workspace.
import { z } from 'zod'
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { builder } from '../../core/graph/builder.ts'
import { defineInput } from '../../core/graph/input.ts'
import { write } from '../../core/idempotency/idempotency.ts'

interface Settings {
  messagesDays: number | null
}

const SettingsRef = builder.objectRef<Settings>('RetentionSettings').implement({
  description: 'How long the workspace keeps its messages.',
  fields: (t) => ({
    messagesDays: t.exposeFloat('messagesDays', {
      nullable: true,
      description: 'Days after which messages are deleted; null or 0: as long as the gateway keeps them.',
    }),
  }),
})

const UpdateInput = defineInput(
  'UpdateRetentionSettingsInput',
  'The retention of a workspace.',
  z.object({
    messagesDays: z
      .number()
      .min(0)
      .max(36_500)
      .nullable()
      .describe(
        'Days after which messages are deleted, fractions allowed; not more than the gateway keeps them. Null or 0: as long as the gateway.',
      ),
  }),
)

async function readSettings({ app, principal }: Context): Promise<Settings> {
  const where = { workspaceId: principal.workspaceId }
  return { messagesDays: (await app.db.retentionSettings.findUnique({ where }))?.messagesDays ?? null }
}

/** @throws VALIDATION_ERROR when the gateway keeps messages for a shorter time. */
async function updateSettings(ctx: Context, messagesDays: number | null): Promise<Settings> {
  const most = ctx.app.config.retentionDaysMessages
  if (most > 0 && messagesDays !== null && messagesDays > most) {
    fail('VALIDATION_ERROR', `messagesDays: must be at most ${most}, because the gateway deletes messages after that time`)
  }
  const where = { workspaceId: ctx.principal.workspaceId }
  return await write(ctx, async ({ db }) => {
    if (messagesDays === null) await db.retentionSettings.deleteMany({ where })
    else await db.retentionSettings.upsert({ where, create: { ...where, messagesDays }, update: { messagesDays } })
    return { messagesDays }
  })
}

builder.queryField('retentionSettings', (t) =>
  t.field({
    type: SettingsRef,
    description: 'The retention of the workspace.',
    resolve: (_, __, ctx) => readSettings(ctx),
  }),
)

builder.mutationField('updateRetentionSettings', (t) =>
  t.field({
    type: SettingsRef,
    description:
      'Sets how long the workspace keeps its messages. Older ones are deleted within minutes, once they have left, and with them the files that came with received ones; usage and the counts of campaigns stay.',
    args: { input: t.arg({ type: UpdateInput.ref, required: true, description: 'The new settings.' }) },
    resolve: (_, { input }, ctx) => updateSettings(ctx, UpdateInput.parse(ctx.app.config, input).messagesDays),
  }),
)
