// Content of a campaign: one message for all recipients, or a template rendered for each.
import { type NamedContact, readContactsByPhone } from '../contacts/contacts.sql.ts'
import { findContact } from '../contacts/service.ts'
import type { App } from '../core/app.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { readSendingInstances } from '../instances/sending.sql.ts'
import type { TemplateType } from '../message-types/service.ts'
import { type ComposedMessage, compose } from '../messages/accept/compose.ts'
import type { ApprovedTemplate } from '../providers/outgoing.ts'
import { sendsTemplates } from '../providers/providers.ts'
import type { CloudTemplate } from '../templates/cloud.ts'
import { faultOf, fillIn } from '../templates/policy.ts'
import { compileTemplate } from '../templates/render.ts'
import { readTemplates } from '../templates/templates.sql.ts'
import { valuesOf } from '../templates/values.ts'
import type { Recipient } from './audience.ts'
import type { CampaignFields } from './input.ts'

/** Rendered message of one recipient. `body` is null if it equals the campaign's body, or if `error` is set. */
export interface Text {
  contactId: string | null
  body: string | null
  /** The values of the approved template. */
  parameters?: readonly string[] | null
  /** Error code, or null if the message can be sent; `fault` describes the error in words. */
  error: string | null
  fault?: string | undefined
}

export interface Content extends Omit<ComposedMessage, 'contactId' | 'template'> {
  /** The approved template that the messages go out as. */
  template: Omit<ApprovedTemplate, 'parameters'> | null
  templateId: string | null
  renderFor: (tx: Tx, workspaceId: string, recipients: readonly Recipient[]) => Promise<Text[]>
}

/** @throws NOT_FOUND when the template, or the contact to share, is not in the workspace. */
export async function contentOf(app: App, tx: Tx, workspaceId: string, fields: CampaignFields): Promise<Content> {
  if (fields.templateId != null) {
    const { instances } = await readSendingInstances(tx, [fields.instanceId])
    const provider = instances.get(fields.instanceId)?.provider
    const approved = provider !== undefined && sendsTemplates(app, provider)
    return await templateContent(tx, workspaceId, fields.templateId, fields.variables ?? null, approved)
  }
  const shared = fields.contactId == null ? undefined : await findContact(tx.db, workspaceId, fields.contactId)
  const { contactId: _, template: __, ...content } = compose({ ...fields, to: '' }, shared)
  const renderFor: Content['renderFor'] = async (tx, workspaceId, recipients) => {
    const known = await contactsOf(tx, workspaceId, recipients)
    return recipients.map(({ to, contactId }) => ({ contactId: contactId ?? known.get(to)?.id ?? null, body: null, error: null }))
  }
  return { ...content, template: null, templateId: null, renderFor }
}

async function templateContent(
  tx: Tx,
  workspaceId: string,
  templateId: string,
  variables: Record<string, string> | null,
  approved: boolean,
): Promise<Content> {
  const template = (await readTemplates(tx, [templateId])).get(templateId)
  if (template?.workspaceId !== workspaceId) fail('NOT_FOUND', 'Template not found')
  const type = template.type as TemplateType
  const compiled = compileTemplate(template.body)
  const cloud = approved ? (template.cloud as CloudTemplate | null) : null
  const textOf = (contact: NamedContact | undefined, recipient: Recipient): Text => {
    const filled = fillIn(type, compiled, valuesOf(contact ?? null, recipient.variables, variables), cloud)
    const fault = faultOf(type, filled)
    const contactId = contact?.id ?? null
    if (fault !== null) return { contactId, body: null, error: 'TEMPLATE_INVALID', fault }
    const { body } = filled
    return { contactId, body: body === template.body ? null : body, parameters: filled.template?.parameters ?? null, error: null }
  }
  return {
    type,
    body: template.body,
    mediaUrl: template.mediaUrl,
    content: null,
    template: cloud && { name: cloud.name, language: cloud.language, ...(cloud.names && { names: cloud.names }) },
    templateId,
    async renderFor(tx, workspaceId, recipients) {
      const contacts = await contactsOf(tx, workspaceId, recipients)
      return recipients.map((recipient) => textOf(contacts.get(recipient.to), recipient))
    },
  }
}

/** The contacts with the numbers of these recipients, by number; those of recipients that were given as plain numbers, too. */
async function contactsOf(tx: Tx, workspaceId: string, recipients: readonly Recipient[]): Promise<Map<string, NamedContact>> {
  const rows = await readContactsByPhone(
    tx,
    workspaceId,
    recipients.map(({ to }) => to),
  )
  return new Map(rows.map((row) => [row.phone, row]))
}
