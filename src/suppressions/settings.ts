// The keywords of a workspace by which people take themselves out, and the reply that they get.
import type { Context } from '../core/context.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { SuppressionSettings } from '../generated/prisma/client.ts'
import { defaultKeywords, type UpdateSettings, wordOf } from './input.ts'

export type Settings = Pick<SuppressionSettings, 'keywords' | 'reply'>

const defaults: Settings = { keywords: [...defaultKeywords], reply: null }

export async function readSettings({ app, principal }: Context): Promise<Settings> {
  const found = await app.db.suppressionSettings.findUnique({ where: { workspaceId: principal.workspaceId } })
  return found ?? defaults
}

/** Changes the given settings. A keyword that is given twice counts once. */
export async function updateSettings(ctx: Context, { keywords, reply }: UpdateSettings): Promise<Settings> {
  const { workspaceId } = ctx.principal
  const distinct = keywords && [...new Map(keywords.map((keyword) => [wordOf(keyword), keyword])).values()]
  const given = { ...(distinct && { keywords: distinct }), ...(reply !== undefined && { reply }) }
  return await write(ctx, (tx) =>
    tx.db.suppressionSettings.upsert({
      where: { workspaceId },
      create: { workspaceId, ...defaults, ...given },
      update: given,
    }),
  )
}
