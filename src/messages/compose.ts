// Turns what a caller asked for into what is stored: one body and media address, the rest as content of the type.
import { failure } from '../core/errors.ts'
import type { MessageFields, SendType } from './input.ts'

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

/** The contact that a message of type `contact` shares, or a template speaks of. */
export interface SharedContact {
  id: string
  name: string
  phone: string
}

/** @throws NOT_FOUND where the contact is not the workspace's; templates do not exist yet, so naming one is NOT_FOUND too. */
export function compose(input: MessageFields, contact: SharedContact | undefined): ComposedMessage {
  if (input.templateId != null || input.type == null) throw failure('NOT_FOUND', 'Template not found')
  if (input.contactId != null && !contact) throw failure('NOT_FOUND', 'Contact not found')
  const base = { type: input.type, contactId: input.contactId ?? null, mediaUrl: null, content: null }
  switch (input.type) {
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
