// Bounds what a network hands over as an inbound message, so that every message can be stored and shown.
import { storable } from '../../core/storable.ts'
import type { InboundMedia, InboundMessage } from '../../providers/reports.ts'

/** As the graph declares them for `Message.body` and `Message.content`. */
const maxBodyBytes = 16 * 1024
export const maxContentBytes = 16 * 1024
/** A unique index holds the id. */
const longestId = 512
const longestSender = 200
const longestText = 1024
const longestReference = 8 * 1024
const mostContacts = 50

/** Returns undefined for a message without an id or a sender that can be stored. */
export function boundInbound(message: InboundMessage): InboundMessage | undefined {
  const { providerMessageId, from, body, content, media } = message
  if (!isKey(providerMessageId, longestId) || !isKey(from, longestSender)) return undefined
  const contacts = content.contacts
    ?.slice(0, mostContacts)
    .map(({ name, phone }) => ({ name: cut(name, longestSender), phone: phone === null ? null : cut(phone, longestSender) }))
  const texts = Object.entries(content).map(([name, value]) => [
    name,
    typeof value === 'string' ? cut(value, longestText) : value,
  ])
  const bounded = { ...Object.fromEntries(texts), ...(contacts && { contacts }) } as InboundMessage['content']
  // Escaped characters take up to six bytes.
  while (contacts?.length && Buffer.byteLength(JSON.stringify(bounded)) > maxContentBytes) contacts.pop()
  return { ...message, body: cut(body, maxBodyBytes), content: bounded, media: media && boundFile(media) }
}

/** Undefined for a file with a longer reference, of which a part would name no file. */
function boundFile(media: InboundMedia): InboundMedia | undefined {
  const { reference, mimeType, fileName } = media
  if (reference.length > longestReference) return undefined
  return {
    ...media,
    reference: storable(reference),
    mimeType: mimeType === null ? null : cut(mimeType, longestText),
    fileName: fileName === null ? null : cut(fileName, longestText),
  }
}

function isKey(text: string, longest: number): boolean {
  return text.length > 0 && text.length <= longest && text === storable(text)
}

/** The longest beginning of a text that fits into so many bytes of UTF-8. */
export function cut(text: string, bytes: number): string {
  const whole = storable(text)
  if (Buffer.byteLength(whole) <= bytes) return whole
  const { read } = new TextEncoder().encodeInto(whole, new Uint8Array(bytes))
  return whole.slice(0, read)
}
