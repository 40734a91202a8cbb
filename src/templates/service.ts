// What can be done with templates, and what others make of them.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { write } from '../core/idempotency.ts'
import type { Template } from '../generated/prisma/client.ts'
import type { CreateTemplate, UpdateTemplate } from './input.ts'
import { checkTemplate, faultOf, renderAs, type TemplateText, type TemplateType } from './policy.ts'
import { compileTemplate, type TemplateContact, type Values } from './render.ts'

export { variables } from './input.ts'
export { faultOf, fillIn, renderAs, type TemplateText, type TemplateType } from './policy.ts'
export { type Compiled, compileTemplate, type Rendered, type TemplateContact, type Values } from './render.ts'

/** As many as one list can hold. */
export const maxTemplates = 1_000

/** Creates a template. @throws TEMPLATE_INVALID; CONFLICT for a name that is taken, exact under a race; INVALID_STATE at 1,000 */
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

/** Changes what is given, if the whole is still right. What was made of it stays as it was. @throws as {@link createTemplate}; NOT_FOUND */
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

/** Deletes it; messages and campaigns keep what they were made of. @throws NOT_FOUND */
export async function deleteTemplate(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { rows } = await tx.query('delete from templates where id = $1 and "workspaceId" = $2 returning id', [
      id,
      ctx.principal.workspaceId,
    ])
    return rows.length > 0 ? { id, deleted: true } : fail('NOT_FOUND', 'Template not found')
  })
}

export interface Preview extends TemplateText {
  missing: string[]
}

/** The message that a template would become, as far as its values are known. @throws NOT_FOUND; TEMPLATE_INVALID where it would be too long */
export async function previewTemplate(
  ctx: Context,
  id: string,
  contactId: string | null,
  given: Record<string, string> | null,
): Promise<Preview> {
  // A POST like any other: under its key it answers again what it answered.
  return await write(ctx, async (tx) => {
    const template = await findTemplate(ctx, tx, id)
    const contact = contactId === null ? null : await findContact(ctx, tx, contactId)
    const type = template.type as TemplateType
    const rendered = renderAs(type, compileTemplate(template.body), valuesOf(contact, given))
    const fault = faultOf(type, { ...rendered, missing: [] })
    if (fault !== null) fail('TEMPLATE_INVALID', fault)
    return { type, mediaUrl: template.mediaUrl, ...rendered }
  })
}

/** A contact's columns that a template may speak of. */
export const contactColumns = 'name, "firstName", "lastName", phone, email, custom'

/** What a template is filled in with: `custom.*` from the first of `given` that has it, else from the contact's own. */
export function valuesOf(
  contact: (TemplateContact & { custom: unknown }) | null,
  ...given: (Record<string, string> | null | undefined)[]
): Values {
  return { contact, custom: [...given, contact?.custom as Record<string, unknown> | undefined] }
}

/** Templates of whatever workspace by their ids, in one query; whoever asks compares `workspaceId`. */
export async function readTemplates(sql: Sql, ids: readonly string[]): Promise<Map<string, Template>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql.query<Template>('select * from templates where id = any($1::uuid[])', [ids])
  return new Map(rows.map((row) => [row.id, row]))
}

/** What is stored: a text has no medium. @throws TEMPLATE_INVALID */
function textOf(type: TemplateType, body: string, mediaUrl: string | null): TemplateText {
  const text = { type, body, mediaUrl: type === 'text' ? null : mediaUrl }
  checkTemplate(text)
  return text
}

async function findTemplate(ctx: Context, tx: Sql, id: string, lock = ''): Promise<Template> {
  const { rows } = await tx.query<Template>(`select * from templates where id = $1 and "workspaceId" = $2 ${lock}`, [
    id,
    ctx.principal.workspaceId,
  ])
  return rows[0] ?? fail('NOT_FOUND', 'Template not found')
}

async function findContact(ctx: Context, tx: Sql, id: string): Promise<TemplateContact & { custom: unknown }> {
  const { rows } = await tx.query<TemplateContact & { custom: unknown }>(
    `select ${contactColumns} from contacts where id = $1 and "workspaceId" = $2`,
    [id, ctx.principal.workspaceId],
  )
  return rows[0] ?? fail('NOT_FOUND', 'Contact not found')
}

function refuseName(error: { code?: string }): never {
  if (error.code === '23505') fail('CONFLICT', 'Another template of the workspace has this name')
  throw error
}
