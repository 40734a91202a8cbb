// Content of a campaign: one message for all recipients, or a template rendered for each.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import type { SharedContact } from '../message-types/row.ts'
import type { TemplateType } from '../message-types/service.ts'
import { type ComposedMessage, compose } from '../messages/accept/compose.ts'
import {
  compileTemplate,
  contactColumns,
  faultOf,
  readTemplates,
  renderAs,
  type TemplateContact,
  valuesOf,
} from '../templates/service.ts'
import type { Recipient } from './audience.ts'
import type { CampaignFields } from './input.ts'

/** Rendered message of one recipient. `body` is null if it equals the campaign's body, or if `error` is set. */
export interface Text {
  contactId: string | null
  body: string | null
  /** Error code, or null if the message can be sent; `fault` describes the error in words. */
  error: string | null
  fault?: string
}

export interface Content extends Omit<ComposedMessage, 'contactId'> {
  templateId: string | null
  renderFor: (tx: Sql, workspaceId: string, recipients: readonly Recipient[]) => Promise<Text[]>
}

/** @throws NOT_FOUND when the template, or the contact to share, is not in the workspace. */
export async function contentOf(tx: Sql, workspaceId: string, fields: CampaignFields): Promise<Content> {
  if (fields.templateId != null) return await templateContent(tx, workspaceId, fields.templateId, fields.variables ?? null)
  const { contactId: _, ...content } = compose({ ...fields, to: '' }, await sharedContact(tx, workspaceId, fields.contactId))
  const renderFor: Content['renderFor'] = async (_, __, recipients) =>
    recipients.map(({ contactId }) => ({ contactId, body: null, error: null }))
  return { ...content, templateId: null, renderFor }
}

async function sharedContact(tx: Sql, workspaceId: string, id: string | null | undefined): Promise<SharedContact | undefined> {
  if (id == null) return undefined
  const { rows } = await tx.query<SharedContact>('select id, name, phone from contacts where id = $1 and "workspaceId" = $2', [
    id,
    workspaceId,
  ])
  return rows[0]
}

async function templateContent(
  tx: Sql,
  workspaceId: string,
  templateId: string,
  variables: Record<string, string> | null,
): Promise<Content> {
  const template = (await readTemplates(tx, [templateId])).get(templateId)
  if (template?.workspaceId !== workspaceId) fail('NOT_FOUND', 'Template not found')
  const type = template.type as TemplateType
  const compiled = compileTemplate(template.body)
  const textOf = (contact: TemplateRow | undefined, recipient: Recipient): Text => {
    const rendered = renderAs(type, compiled, valuesOf(contact ?? null, recipient.variables, variables))
    const fault = faultOf(type, rendered)
    const contactId = contact?.id ?? null
    if (fault !== null) return { contactId, body: null, error: 'TEMPLATE_INVALID', fault }
    return { contactId, body: rendered.body === template.body ? null : rendered.body, error: null }
  }
  return {
    type,
    body: template.body,
    mediaUrl: template.mediaUrl,
    content: null,
    templateId,
    async renderFor(tx, workspaceId, recipients) {
      const contacts = await knownContacts(tx, workspaceId, recipients)
      return recipients.map((recipient) => textOf(contacts.get(recipient.to), recipient))
    },
  }
}

interface TemplateRow extends TemplateContact {
  id: string
  custom: unknown
}

/** Reads the contacts with these numbers, including those of recipients that were given as plain numbers. */
async function knownContacts(tx: Sql, workspaceId: string, recipients: readonly Recipient[]): Promise<Map<string, TemplateRow>> {
  const { rows } = await tx.query<TemplateRow & { phone: string }>(
    `select id, ${contactColumns} from contacts where "workspaceId" = $1 and phone = any($2::text[])`,
    [workspaceId, recipients.map(({ to }) => to)],
  )
  return new Map(rows.map((row) => [row.phone, row]))
}
