// Previews the message that a template would become.
import type { Context } from '../core/context.ts'
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { TemplateType } from '../message-types/service.ts'
import { faultOf, renderAs, type TemplateText } from './policy.ts'
import { compileTemplate } from './render.ts'
import { contactColumns, type KnownContact, valuesOf } from './values.ts'

export interface Preview extends TemplateText {
  missing: string[]
}

/**
 * The message, as far as values are known.
 * @throws NOT_FOUND when the template or contact does not exist, TEMPLATE_INVALID when the text would be too long, or empty
 */
export async function previewTemplate(
  ctx: Context,
  id: string,
  contactId: string | null,
  given: Record<string, string> | null,
): Promise<Preview> {
  // A preview is a POST like any other: repeated under its Idempotency-Key, it gets its first answer.
  return await write(ctx, async (tx) => {
    const { workspaceId } = ctx.principal
    const template = await tx.db.template.findFirst({ where: { id, workspaceId } })
    if (!template) fail('NOT_FOUND', 'Template not found')
    const contact = contactId === null ? null : await findContact(ctx, tx, contactId)
    const type = template.type as TemplateType
    const rendered = renderAs(type, compileTemplate(template.body), valuesOf(contact, given))
    const fault = faultOf(type, { ...rendered, missing: [] })
    if (fault !== null) fail('TEMPLATE_INVALID', fault)
    return { type, mediaUrl: template.mediaUrl, ...rendered }
  })
}

async function findContact(ctx: Context, tx: Sql, id: string): Promise<KnownContact> {
  const { rows } = await tx.query<KnownContact>(`select ${contactColumns} from contacts where id = $1 and "workspaceId" = $2`, [
    id,
    ctx.principal.workspaceId,
  ])
  return rows[0] ?? fail('NOT_FOUND', 'Contact not found')
}
