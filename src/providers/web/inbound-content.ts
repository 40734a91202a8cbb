// Type, text, parts and file of an inbound message, from the network's content.
import type { proto } from 'baileys'
import { cardsText, choiceText, placeText } from '../inbound-body.ts'
import type { InboundContent, InboundMedia, InboundMessage } from '../reports.ts'
import { saysNothing } from './unknown-part.ts'

export type Taken = Pick<InboundMessage, 'type' | 'body' | 'content'> & { media?: InboundMedia }

/** The data with which a file of the network is downloaded and decrypted. */
export interface DownloadReference {
  /** As the network names the kind of file. */
  kind: 'image' | 'video' | 'audio' | 'document' | 'sticker'
  directPath: string
  /** Base64. */
  mediaKey: string
  url?: string
}

/** Wrappers whose inner message is the content. */
const wrappers = [
  'ephemeralMessage',
  'viewOnceMessage',
  'viewOnceMessageV2',
  'viewOnceMessageV2Extension',
  'documentWithCaptionMessage',
  // A picture or a video that belongs to another message, and a sticker that moves.
  'associatedChildMessage',
  'lottieStickerMessage',
  'deviceSentMessage',
  'editedMessage',
] as const

/** Undefined for messages between clients, such as keys, deletions and edits. */
export function contentFrom(message: proto.IMessage): Taken | undefined {
  const inner = wrappers.map((name) => message[name]?.message).find(Boolean)
  // A wrapper always holds a message for a person, even one of a kind that the package does not know.
  if (inner) return saysNothing(inner) ? unsupported : contentFrom(inner)
  const replyTo = replyOf(message)
  const taken = partsOf(message)
  return taken && { ...taken, content: replyTo ? { ...taken.content, replyTo } : taken.content }
}

function partsOf(message: proto.IMessage): Taken | undefined {
  if (message.conversation) return text(message.conversation)
  if (message.extendedTextMessage) return text(message.extendedTextMessage.text)
  const { imageMessage, videoMessage, ptvMessage, audioMessage, documentMessage, stickerMessage } = message
  if (imageMessage) return file('image', 'image', 'image', imageMessage, imageMessage.caption)
  const video = videoMessage ?? ptvMessage
  if (video) return file('video', 'video', 'video', video, video.caption)
  if (audioMessage) {
    const type = audioMessage.ptt ? 'voice_note' : 'audio'
    return file(type, type, 'audio', audioMessage)
  }
  if (documentMessage) return file('document', 'document', 'document', documentMessage, documentMessage.caption)
  if (stickerMessage) return file('image', 'sticker', 'sticker', stickerMessage)
  return placeOf(message) ?? contactsOf(message) ?? answerOf(message) ?? otherOf(message)
}

function placeOf({ locationMessage, liveLocationMessage }: proto.IMessage): Taken | undefined {
  const place = locationMessage ?? liveLocationMessage
  if (!place) return undefined
  const { name = null, address = null } = locationMessage ?? {}
  const coordinates = { latitude: place.degreesLatitude ?? 0, longitude: place.degreesLongitude ?? 0 }
  const content: InboundContent = { kind: 'location', ...coordinates, name: name || null, address: address || null }
  return { type: 'location', body: placeText(content), content }
}

function contactsOf({ contactMessage, contactsArrayMessage }: proto.IMessage): Taken | undefined {
  const cards = contactMessage ? [contactMessage] : contactsArrayMessage?.contacts
  if (!cards?.length) return undefined
  const contacts = cards.map(({ displayName, vcard }) => ({ name: displayName ?? '', phone: phoneIn(vcard ?? '') }))
  return { type: 'contact', body: cardsText(contacts), content: { kind: 'contact', contacts } }
}

/** The number of the network's own field, else of the first TEL line that is E.164. iPhones write `item1.TEL`, and numbers with no-break spaces. */
function phoneIn(vcard: string): string | null {
  const own = /waid=(\d{7,15})/.exec(vcard)?.[1]
  const line = /^(?:[\w-]+\.)?TEL[^:\n]*:\s*(\+[\d\xa0 ().-]{7,25})/im.exec(vcard)?.[1]?.replace(/[^\d+]/g, '')
  return own ? `+${own}` : (line ?? null)
}

/** Answers to buttons and lists. */
function answerOf(message: proto.IMessage): Taken | undefined {
  const { buttonsResponseMessage: button, templateButtonReplyMessage: quick, listResponseMessage: list } = message
  if (button) return choice('button', button.selectedButtonId, button.selectedDisplayText)
  if (quick) return choice('button', quick.selectedId, quick.selectedDisplayText)
  if (list) return choice('list', list.singleSelectReply?.selectedRowId, list.title)
  const flow = message.interactiveResponseMessage?.nativeFlowResponseMessage
  if (!flow) return undefined
  const chosen = jsonOf(flow.paramsJson)
  return choice('button', textOf(chosen.id), textOf(chosen.display_text) ?? message.interactiveResponseMessage?.body?.text)
}

function otherOf(message: proto.IMessage): Taken | undefined {
  const { reactionMessage: reaction } = message
  if (reaction) {
    const reactedTo = reaction.key?.id ?? undefined
    return { type: 'unknown', body: reaction.text ?? '', content: { kind: 'reaction', reactedTo } }
  }
  if (message.protocolMessage || saysNothing(message)) return undefined
  return unsupported
}

const unsupported: Taken = { type: 'unknown', body: '', content: { kind: 'unsupported' } }

function text(body: string | null | undefined): Taken {
  return { type: 'text', body: body ?? '', content: { kind: 'text' } }
}

/** Other programs send choices without ids. The label stands for one, as it does on `cloud`. */
function choice(kind: 'button' | 'list', id: string | null | undefined, label: string | null | undefined): Taken {
  const buttonId = id || label
  return { type: 'text', body: choiceText(id, label), content: { kind, ...(buttonId ? { buttonId } : {}) } }
}

type FileMessage = Pick<proto.Message.IDocumentMessage, 'directPath' | 'mediaKey' | 'mimetype' | 'url' | 'fileName'>

function file(
  type: Taken['type'],
  kind: InboundContent['kind'],
  named: DownloadReference['kind'],
  { directPath, mediaKey, mimetype, url, fileName }: FileMessage,
  caption?: string | null,
): Taken {
  const taken: Taken = { type, body: caption ?? '', content: { kind } }
  if (!directPath || !mediaKey) return taken
  const reference: DownloadReference = {
    kind: named,
    directPath,
    mediaKey: Buffer.from(mediaKey).toString('base64'),
    url: url ?? undefined,
  }
  const mimeType = mimetype?.split(';')[0]?.trim() || null
  return { ...taken, media: { reference: JSON.stringify(reference), mimeType, fileName: fileName ?? null } }
}

function replyOf(message: proto.IMessage): string | undefined {
  for (const part of Object.values(message)) {
    const id = (part as { contextInfo?: { stanzaId?: string } } | null)?.contextInfo?.stanzaId
    if (id) return id
  }
  return undefined
}

function jsonOf(json: string | null | undefined): Record<string, unknown> {
  try {
    return Object(JSON.parse(json ?? '{}'))
  } catch {
    return {}
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
