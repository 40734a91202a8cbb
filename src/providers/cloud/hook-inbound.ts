// Translates a message of Meta's webhook into an inbound message.
import { numberOf, timeOf } from '../given-values.ts'
import { cardsText, choiceText, placeText } from '../inbound-body.ts'
import type { InboundContent, InboundMedia, InboundMessage } from '../reports.ts'
import { type Fields, fieldsOf, idOf, listOf, textOf } from './values.ts'

type Parts = Pick<InboundMessage, 'type' | 'body' | 'content' | 'media'>

/** Returns undefined for an item without an id or a sender, and for one of a group. */
export function inboundOf(instanceId: string, item: unknown, contacts: readonly unknown[]): InboundMessage | undefined {
  const message = fieldsOf(item)
  const providerMessageId = idOf(message.id)
  const from = senderOf(message, contacts)
  if (!providerMessageId || !from || message.group_id != null) return undefined
  const { content, ...parts } = partsOf(message)
  const replyTo = content.kind === 'reaction' ? undefined : idOf(fieldsOf(message.context).id)
  const whole = replyTo === undefined ? content : { ...content, replyTo }
  return { instanceId, providerMessageId, from, ...parts, content: whole, at: timeOf(message.timestamp) }
}

/** The number, E.164; for a person who shows none, the network's id of that person. */
function senderOf({ from, from_user_id: userId }: Fields, contacts: readonly unknown[]): string | undefined {
  const { wa_id: number, user_id: contactId } = contacts.length === 1 ? fieldsOf(contacts[0]) : {}
  const digits = [from, number].map((value) => textOf(value)?.replace(/^\+/, '')).find((value) => /^\d{5,15}$/.test(value ?? ''))
  return digits ? `+${digits}` : (idOf(from) ?? idOf(userId) ?? idOf(contactId))
}

function partsOf(message: Fields): Parts {
  const kind = message.type as string
  const read = Object.hasOwn(readers, kind) ? readers[kind] : undefined
  return read?.(fieldsOf(message[kind]), message) ?? unknown('unsupported')
}

const unknown = (kind: InboundContent['kind'], body = ''): Parts => ({ type: 'unknown', body, content: { kind } })

const readers: Readonly<Record<string, (value: Fields, message: Fields) => Parts | undefined>> = {
  text: ({ body }) => ({ type: 'text', body: textOf(body) ?? '', content: { kind: 'text' } }),
  image: file('image', 'image'),
  video: file('video', 'video'),
  document: file('document', 'document'),
  sticker: file('image', 'sticker'),
  audio: (value) => (value.voice === true ? file('voice_note', 'voice_note') : file('audio', 'audio'))(value),
  location(value) {
    const [latitude, longitude] = [numberOf(value.latitude), numberOf(value.longitude)]
    if (latitude === undefined || longitude === undefined) return undefined
    const [name, address] = [textOf(value.name) ?? null, textOf(value.address) ?? null]
    const content: InboundContent = { kind: 'location', latitude, longitude, name, address }
    return { type: 'location', body: placeText(content), content }
  },
  contacts(_, message) {
    const contacts = listOf(message.contacts).map(cardOf)
    return { type: 'contact', body: cardsText(contacts), content: { kind: 'contact', contacts } }
  },
  interactive(value) {
    const kind = value.type === 'list_reply' ? 'list' : 'button'
    const { id, title } = fieldsOf(kind === 'list' ? value.list_reply : value.button_reply)
    return chosen(kind, id, title)
  },
  button: ({ payload, text }) => chosen('button', payload, text),
  reaction({ message_id, emoji }) {
    const reactedTo = idOf(message_id)
    return { ...unknown('reaction', textOf(emoji) ?? ''), content: { kind: 'reaction', reactedTo } }
  },
  system: () => unknown('system'),
}

function file(type: 'image' | 'video' | 'document' | 'audio' | 'voice_note', kind: InboundContent['kind']) {
  return (value: Fields): Parts => {
    const reference = idOf(value.id)
    const media: InboundMedia | undefined = reference
      ? { reference, mimeType: textOf(value.mime_type) ?? null, fileName: textOf(value.filename) ?? null }
      : undefined
    return { type, body: textOf(value.caption) ?? '', content: { kind }, media }
  }
}

function cardOf(card: unknown): { name: string; phone: string | null } {
  const { name, phones } = fieldsOf(card)
  const { formatted_name: formatted, first_name: first } = fieldsOf(name)
  const { phone, wa_id: number } = fieldsOf(listOf(phones)[0])
  return { name: textOf(formatted) ?? textOf(first) ?? '', phone: textOf(phone) ?? textOf(number) ?? null }
}

function chosen(kind: 'button' | 'list', id: unknown, title: unknown): Parts | undefined {
  const [buttonId, label] = [textOf(id), textOf(title)]
  if (buttonId === undefined && label === undefined) return undefined
  return { type: 'text', body: choiceText(buttonId, label), content: { kind, buttonId: buttonId ?? label } }
}
