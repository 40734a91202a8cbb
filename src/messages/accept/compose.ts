// Converts the input of a message to stored columns: `body`, `mediaUrl`, and `content` for the rest.
import { fail } from '../../core/errors.ts'
import type { SharedContact } from '../../message-types/row.ts'
import { composeContent, type SendType, type TemplateType } from '../../message-types/service.ts'
import type { ApprovedTemplate, OutgoingContent } from '../../providers/outgoing.ts'
import type { CloudTemplate } from '../../templates/cloud.ts'
import { faultOf, fillIn } from '../../templates/policy.ts'
import type { Compiled } from '../../templates/render.ts'
import { type KnownContact, valuesOf } from '../../templates/values.ts'
import type { MessageFields } from '../input.ts'

export interface ComposedMessage {
  type: SendType
  body: string
  mediaUrl: string | null
  contactId: string | null
  content: OutgoingContent | null
  template: ApprovedTemplate | null
}

/** A compiled template. */
export interface OpenTemplate {
  type: TemplateType
  mediaUrl: string | null
  compiled: Compiled
  cloud: CloudTemplate | null
}

/**
 * Fills in a template. The message refers to the contact that supplied the values. With `approved`, the network takes templates that it
 * approved.
 * @throws NOT_FOUND when the template or the named contact does not exist.
 * @throws TEMPLATE_INVALID when a value is missing; the message names it.
 */
export function fillTemplate(
  input: MessageFields,
  contact: (SharedContact & KnownContact) | undefined,
  template: OpenTemplate | undefined,
  approved: boolean,
): ComposedMessage {
  if (!template) return fail('NOT_FOUND', 'Template not found')
  checkContact(input, contact)
  const { type, mediaUrl, compiled, cloud } = template
  const filled = fillIn(type, compiled, valuesOf(contact ?? null, input.variables), approved ? cloud : null)
  const fault = faultOf(type, filled)
  if (fault !== null) fail('TEMPLATE_INVALID', fault)
  return { type, body: filled.body, mediaUrl, contactId: contact?.id ?? null, content: null, template: filled.template }
}

/** @throws NOT_FOUND when `contactId` names a contact that does not exist in the workspace. */
function checkContact(input: MessageFields, contact: SharedContact | undefined): void {
  if (input.contactId != null && !contact) fail('NOT_FOUND', 'Contact not found')
}

/**
 * Builds the stored form of a message without a template. `contact` is the named one, or the one with the recipient's number.
 * @throws NOT_FOUND when the named contact does not exist in the workspace.
 */
export function compose(input: MessageFields, contact: SharedContact | undefined): ComposedMessage {
  checkContact(input, contact)
  const type = input.type as SendType
  return { type, contactId: contact?.id ?? null, template: null, ...composeContent(type, input, contact) }
}
