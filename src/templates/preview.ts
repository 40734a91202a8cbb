// Previews the message that a template would become.
import { findContact } from '../contacts/service.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import type { TemplateType } from '../message-types/service.ts'
import { faultOf, renderAs, type TemplateText } from './policy.ts'
import { compileTemplate } from './render.ts'
import { valuesOf } from './values.ts'

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
    const template = (await tx.db.template.findFirst({ where: { id, workspaceId } })) ?? fail('NOT_FOUND', 'Template not found')
    const contact = contactId === null ? null : await findContact(tx.db, workspaceId, contactId)
    const type = template.type as TemplateType
    const rendered = renderAs(type, compileTemplate(template.body), valuesOf(contact, given))
    const fault = faultOf(type, { ...rendered, missing: [] })
    if (fault !== null) fail('TEMPLATE_INVALID', fault)
    return { type, mediaUrl: template.mediaUrl, ...rendered }
  })
}
