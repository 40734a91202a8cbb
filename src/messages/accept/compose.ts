// Converts the input of a message to stored columns: `body`, `mediaUrl`, and `content` for the rest.
import { fail } from '../../core/errors.ts'
import { type Compiled, fillIn, type KnownContact, type TemplateType, valuesOf } from '../../templates/service.ts'
import type { MessageFields, SendType } from '../input.ts'

/** The data that a type needs beyond `body` and `mediaUrl`, in the form that providers read. */
export type MessageContent =
  | { kind: 'location'; latitude: number; longitude: number; name: string | null; address: string | null }
  | { kind: 'contact'; name: string; phone: string }
  | {
      kind: 'buttons'
      title: string | null
      footer: string | null
      buttons: { type: 'reply'; displayText: string; id: string }[]
    }

export interface ComposedMessage {
  type: SendType
  body: string
  mediaUrl: string | null
  contactId: string | null
  content: MessageContent | null
}

/** The contact that a message of type `contact` shares. */
export interface SharedContact {
  id: string
  name: string
  phone: string
}

/** A compiled template. */
export interface OpenTemplate {
  type: TemplateType
  mediaUrl: string | null
  compiled: Compiled
}

/**
 * Fills in a template. The message refers to the contact that supplied the values.
 * @throws NOT_FOUND when the template or the named contact does not exist.
 * @throws TEMPLATE_INVALID when a value is missing; the message names it.
 */
export function fillTemplate(
  input: MessageFields,
  contact: (SharedContact & KnownContact) | undefined,
  template: OpenTemplate | undefined,
): ComposedMessage {
  if (!template) return fail('NOT_FOUND', 'Template not found')
  checkContact(input, contact)
  const body = fillIn(template.type, template.compiled, valuesOf(contact ?? null, input.variables))
  return { type: template.type, body, mediaUrl: template.mediaUrl, contactId: contact?.id ?? null, content: null }
}

/** @throws NOT_FOUND when `contactId` names a contact that does not exist in the workspace. */
function checkContact(input: MessageFields, contact: SharedContact | undefined): void {
  if (input.contactId != null && !contact) fail('NOT_FOUND', 'Contact not found')
}

/** Builds the stored form of a message without a template. @throws NOT_FOUND when the contact does not exist in the workspace. */
export function compose(input: MessageFields, contact: SharedContact | undefined): ComposedMessage {
  checkContact(input, contact)
  const type = input.type as SendType
  const base = { type, contactId: input.contactId ?? null, mediaUrl: null, content: null }
  switch (type) {
    case 'text':
      return { ...base, body: input.text ?? '' }
    case 'image':
    case 'video':
    case 'document':
      return { ...base, body: input.text ?? '', mediaUrl: input.mediaUrl ?? null }
    case 'audio':
    case 'voice_note':
      return { ...base, body: '', mediaUrl: input.mediaUrl ?? null }
    case 'location': {
      const { latitude = 0, longitude = 0, locationName = null, locationAddress = null } = input
      const content = { kind: 'location', latitude, longitude, name: locationName, address: locationAddress } as MessageContent
      return { ...base, body: locationName ?? '', content }
    }
    case 'contact': {
      const { name, phone } = contact as SharedContact
      return { ...base, body: name, content: { kind: 'contact', name, phone } }
    }
    case 'buttons': {
      const { title = null, footer = null, buttons } = input
      return { ...base, body: input.description ?? '', content: { kind: 'buttons', title, footer, buttons: buttons ?? [] } }
    }
  }
}
