// Bodies of messages as Meta's Cloud API takes them, one function for each type. Pure.
import type { OutgoingMessage } from '../outgoing.ts'

/** A file by Meta's id of an upload, or by an address that Meta fetches it from. */
export type FileReference = { id: string; extension: string } | { link: string }

/** The body of `POST {phoneNumberId}/messages`. `file` is there for types with a file. */
export function bodyOf(message: OutgoingMessage, file: FileReference | undefined): object {
  const content = message.template ? templateOf(message, message.template, file) : contentOf(message, file)
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    to: digitsOf(message.to),
    ...content,
    biz_opaque_callback_data: message.messageId,
  }
}

function digitsOf(number: string): string {
  return number.replace(/\D/g, '')
}

function contentOf(message: OutgoingMessage, file: FileReference | undefined): object {
  const { type } = message
  switch (type) {
    case 'text':
      return { type, text: { body: message.body, preview_url: false } }
    case 'image':
    case 'video':
      return { type, [type]: { ...sourceOf(file), ...captionOf(message.body) } }
    case 'audio':
      return { type, audio: sourceOf(file) }
    case 'voice_note':
      return { type: 'audio', audio: { ...sourceOf(file), voice: true } }
    case 'document':
      return { type, document: { ...sourceOf(file), ...nameOf(file), ...captionOf(message.body) } }
    case 'location': {
      const { latitude, longitude, name, address } = message.content
      return { type, location: { latitude, longitude, ...(name && { name }), ...(address && { address }) } }
    }
    case 'contact': {
      const { name, phone } = message.content
      const phones = [{ phone, type: 'CELL', wa_id: digitsOf(phone) }]
      return { type: 'contacts', contacts: [{ name: personOf(name), phones }] }
    }
    case 'buttons':
      return { type: 'interactive', interactive: buttonsOf(message) }
  }
}

function sourceOf(file: FileReference | undefined): object {
  if (!file) return {}
  return 'id' in file ? { id: file.id } : { link: file.link }
}

function captionOf(caption: string): object {
  return caption === '' ? {} : { caption }
}

/** Without a name, phones show the id of an upload, or the last part of the address. */
function nameOf(file: FileReference | undefined): object {
  return file && 'id' in file ? { filename: `document.${file.extension}` } : {}
}

/** Meta wants one part of the name beside the whole. */
function personOf(name: string): object {
  const [first = name, ...rest] = name.trim().split(/\s+/)
  return { formatted_name: name, first_name: first, ...(rest.length > 0 && { last_name: rest.join(' ') }) }
}

function buttonsOf({ body, content }: OutgoingMessage & { type: 'buttons' }): object {
  const { title, footer, buttons } = content
  return {
    type: 'button',
    ...(title && body && { header: { type: 'text', text: title } }),
    body: { text: body || title },
    ...(footer && { footer: { text: footer } }),
    action: { buttons: buttons.map(({ id, displayText }) => ({ type: 'reply', reply: { id, title: displayText } })) },
  }
}

function templateOf(
  { type }: OutgoingMessage,
  { name, language, parameters, names }: NonNullable<OutgoingMessage['template']>,
  file: FileReference | undefined,
): object {
  const header = {
    type: 'header',
    parameters: [{ type, [type]: { ...sourceOf(file), ...(type === 'document' && nameOf(file)) } }],
  }
  const body = {
    type: 'body',
    parameters: parameters.map((text, i) => ({ type: 'text', ...(names && { parameter_name: names[i] }), text })),
  }
  const components = [...(file ? [header] : []), ...(parameters.length > 0 ? [body] : [])]
  const template = { name, language: { code: language }, ...(components.length > 0 && { components }) }
  return { type: 'template', template }
}
