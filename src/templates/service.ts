// Operations on templates, and the exports that other domains use.
import type { App } from '../core/app.ts'
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { isTaken } from '../core/public-failure.ts'
import type { Template } from '../generated/prisma/client.ts'
import { urlsWithoutFile } from '../media/service.ts'
import { faultOfKind, withoutFile } from '../message-types/fields.ts'
import { needsFile, rowOf, type TemplateType } from '../message-types/service.ts'
import { type CloudTemplate, checkCloudType, cloudToStore } from './cloud.ts'
import type { CreateTemplate, UpdateTemplate } from './input.ts'
import { checkTemplate, maxTemplates, type TemplateText } from './policy.ts'
import { lockNewTemplates, lockTemplate, storeTemplate } from './templates.sql.ts'

/**
 * Creates a template.
 * @throws TEMPLATE_INVALID when it could never become a message, VALIDATION_ERROR when a template of type text has no text, CONFLICT
 * when the name is taken, INVALID_STATE when the workspace has 1,000 templates (both exact under concurrency)
 */
export async function createTemplate(ctx: Context, input: CreateTemplate): Promise<Template> {
  const { type, body, mediaUrl } = textOf(input.type, input.body ?? '', input.mediaUrl ?? null)
  const { workspaceId } = ctx.principal
  return await write(ctx, async (tx) => {
    await lockNewTemplates(tx, workspaceId)
    const count = await tx.db.template.count({ where: { workspaceId } })
    if (count >= maxTemplates) fail('INVALID_STATE', `A workspace has at most ${maxTemplates} templates`)
    await checkStoredFile(ctx.app, tx, { type, mediaUrl })
    const mapping = input.cloud && cloudToStore(input.cloud, null)
    checkCloudType(type, mapping ?? null)
    const data = { id: newId(), workspaceId, name: input.name, type, body, mediaUrl, ...(mapping && { cloud: { ...mapping } }) }
    return await tx.db.template.create({ data }).catch(refuseName)
  })
}

/**
 * Changes the given fields, if the whole is still valid. Messages and campaigns made from the template stay as they are.
 * @throws NOT_FOUND when the workspace has no such template; as {@link createTemplate}
 */
export async function updateTemplate(ctx: Context, id: string, input: UpdateTemplate): Promise<Template> {
  return await write(ctx, async (tx) => {
    const before = await lockTemplate(tx, id, ctx.principal.workspaceId)
    if (!before) fail('NOT_FOUND', 'Template not found')
    const { name = before.name, type = before.type as TemplateType, body = before.body, mediaUrl = before.mediaUrl } = input
    if (input.mediaUrl && !needsFile(type)) fail('VALIDATION_ERROR', `mediaUrl: cannot be given with type ${type}`)
    const data = { name, ...textOf(type, body, mediaUrl) }
    await checkStoredFile(ctx.app, tx, data)
    const known = before.cloud as CloudTemplate | null
    const mapping = input.cloud ? cloudToStore(input.cloud, known) : input.cloud === null ? null : known
    checkCloudType(type, mapping)
    return await storeTemplate(tx, id, { ...data, cloud: mapping }).catch(refuseName)
  })
}

/**
 * Deletes it. Messages and campaigns keep the content that they were made from.
 * @throws NOT_FOUND when the workspace has no such template
 */
export async function deleteTemplate(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { count } = await tx.db.template.deleteMany({ where: { id, workspaceId: ctx.principal.workspaceId } })
    return count > 0 ? { id, deleted: true } : fail('NOT_FOUND', 'Template not found')
  })
}

/**
 * The content to store: a template of type text has no medium.
 * @throws as {@link checkTemplate}
 */
function textOf(type: TemplateType, body: string, mediaUrl: string | null): TemplateText {
  const text = { type, body, mediaUrl: needsFile(type) ? mediaUrl : null }
  checkTemplate(text)
  return text
}

/** @throws TEMPLATE_INVALID when the address is one of this gateway, and its file is missing or not for messages of the type */
async function checkStoredFile(app: App, tx: Sql, { type, mediaUrl }: Omit<TemplateText, 'body'>): Promise<void> {
  if (mediaUrl === null) return
  const missing = (await urlsWithoutFile(app, tx, [mediaUrl])).size > 0
  const fault = missing ? withoutFile : faultOfKind(rowOf(type).kind, mediaUrl, app.config)
  if (fault) fail('TEMPLATE_INVALID', `mediaUrl: ${fault}`)
}

function refuseName(error: unknown): never {
  if (isTaken(error)) fail('CONFLICT', 'Another template of the workspace has this name')
  throw error
}
