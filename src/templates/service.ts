// Operations on templates, and the exports that other domains use.
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { Template } from '../generated/prisma/client.ts'
import { needsFile, type TemplateType } from '../message-types/service.ts'
import type { CreateTemplate, UpdateTemplate } from './input.ts'
import { checkTemplate, type TemplateText } from './policy.ts'
import { findTemplate } from './read.ts'

export { variables } from './input.ts'
export { faultOf, fillIn, renderAs, type TemplateText } from './policy.ts'
export { readTemplates } from './read.ts'
export { type Compiled, compileTemplate, type Rendered, type TemplateContact, type Values } from './render.ts'
export { contactColumns, type KnownContact, valuesOf } from './values.ts'

/** Per workspace: as many as one list can hold. */
export const maxTemplates = 1_000

/**
 * Creates a template.
 * @throws TEMPLATE_INVALID when it could never become a message, VALIDATION_ERROR when a template of type text has no text, CONFLICT
 * when the name is taken (exact under concurrency), INVALID_STATE when the workspace has 1,000 templates
 */
export async function createTemplate(ctx: Context, input: CreateTemplate): Promise<Template> {
  const { type, body, mediaUrl } = textOf(input.type, input.body ?? '', input.mediaUrl ?? null)
  return await write(ctx, async (tx) => {
    const { rows } = await tx
      .query<Template>(
        `insert into templates (id, "workspaceId", name, type, body, "mediaUrl")
         select $1, $2, $3, $4, $5, $6 where (select count(*) from templates where "workspaceId" = $2) < $7 returning *`,
        [newId(), ctx.principal.workspaceId, input.name, type, body, mediaUrl, maxTemplates],
      )
      .catch(refuseName)
    return rows[0] ?? fail('INVALID_STATE', `A workspace has at most ${maxTemplates} templates`)
  })
}

/**
 * Changes the given fields, if the whole is still valid. Messages and campaigns made from the template stay as they are.
 * @throws NOT_FOUND when the workspace has no such template; as {@link createTemplate}
 */
export async function updateTemplate(ctx: Context, id: string, input: UpdateTemplate): Promise<Template> {
  return await write(ctx, async (tx) => {
    const before = await findTemplate(ctx, tx, id, 'for no key update')
    const { name = before.name, type = before.type as TemplateType, body = before.body, mediaUrl = before.mediaUrl } = input
    const text = textOf(type, body, mediaUrl)
    const { rows } = await tx
      .query<Template>(
        'update templates set name = $2, type = $3, body = $4, "mediaUrl" = $5, "updatedAt" = now() where id = $1 returning *',
        [id, name, text.type, text.body, text.mediaUrl],
      )
      .catch(refuseName)
    return rows[0] as Template
  })
}

/**
 * Deletes it. Messages and campaigns keep the content that they were made from.
 * @throws NOT_FOUND when the workspace has no such template
 */
export async function deleteTemplate(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { rows } = await tx.query('delete from templates where id = $1 and "workspaceId" = $2 returning id', [
      id,
      ctx.principal.workspaceId,
    ])
    return rows.length > 0 ? { id, deleted: true } : fail('NOT_FOUND', 'Template not found')
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

function refuseName(error: { code?: string }): never {
  if (error.code === '23505') fail('CONFLICT', 'Another template of the workspace has this name')
  throw error
}
