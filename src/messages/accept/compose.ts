// Turns what a caller asked for into what is stored: one body and media address, the rest as content of the type.
import { fail } from '../../core/errors.ts'
import { type Compiled, fillIn, type KnownContact, type TemplateType, valuesOf } from '../../templates/service.ts'
import type { MessageFields, SendType } from '../input.ts'

/** What a type needs beyond `body` and `mediaUrl`, as providers read it. */
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

/** A template, ready to be filled in. */
export interface OpenTemplate {
  type: TemplateType
  mediaUrl: string | null
  compiled: Compiled
}

/** What a template becomes: the message is about the contact that it speaks of. @throws NOT_FOUND; TEMPLATE_INVALID naming what is missing */
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

/** @throws NOT_FOUND where the contact that is named is not there */
function checkContact(input: MessageFields, contact: SharedContact | undefined): void {
  if (input.contactId != null && !contact) fail('NOT_FOUND', 'Contact not found')
}

/** What a type with its fields becomes. @throws NOT_FOUND where the contact is not the workspace's */
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
