// Content of an outgoing message as the network takes it, by type.
import type { AnyMessageContent, proto } from 'baileys'
import { type OutgoingMessage, voiceType } from '../outgoing.ts'
import { type ButtonsMessage, nativeButtons, numberedButtons, offerOptions } from './buttons.ts'
import type { ComposeOptions } from './composing.ts'
import { lengthOf, openMedia } from './media.ts'
import { silent } from './package.ts'
import { vcardOf } from './vcard.ts'

/**
 * Prepares a message, and uploads its file. Returns the call that sends it, to be made at once: the message may have left when that call
 * fails, and not before. @throws MediaRejected when the file cannot be used.
 */
export async function composeFor(options: ComposeOptions, message: OutgoingMessage): Promise<() => Promise<unknown>> {
  const { jid, stanzaId: messageId } = options
  const { socket, whatsApp, upload } = options.live
  const native = nativeOf(options, message)
  if (native) return nativeButtons(options, native)
  if (message.type === 'buttons') await offerOptions(options, message)
  const content = await contentOf(options, message)
  const userJid = socket.user?.id as string
  const composed = await whatsApp.generateWAMessage(jid, content, { userJid, messageId, upload, logger: silent })
  return () => socket.relayMessage(jid, composed.message as proto.IMessage, { messageId })
}

/** The message, if it goes out with buttons of the network. */
export function nativeOf({ instance }: ComposeOptions, message: OutgoingMessage): ButtonsMessage | undefined {
  return message.type === 'buttons' && instance.settings.buttons === 'native' ? message : undefined
}

/** @throws MediaRejected when the file of the message cannot be used. */
export async function contentOf(options: ComposeOptions, message: OutgoingMessage): Promise<AnyMessageContent> {
  const caption = message.body || undefined
  switch (message.type) {
    case 'text':
      // Without this, the package would fetch every address in the text.
      return { text: message.body, linkPreview: null }
    case 'buttons':
      return { text: numberedButtons(message), linkPreview: null }
    case 'location': {
      const { latitude, longitude, name, address } = message.content
      const location = {
        degreesLatitude: latitude,
        degreesLongitude: longitude,
        name: name ?? undefined,
        address: address ?? undefined,
      }
      return { location }
    }
    case 'contact': {
      const { name, phone } = message.content
      return { contacts: { displayName: name, contacts: [{ displayName: name, vcard: vcardOf(name, phone) }] } }
    }
    case 'image': {
      const { stream, mimetype } = await openMedia(options, message)
      return { image: { stream }, mimetype, caption, jpegThumbnail: '' }
    }
    case 'video': {
      const { stream, mimetype } = await openMedia(options, message)
      return { video: { stream }, mimetype, caption, jpegThumbnail: '' }
    }
    case 'audio': {
      const { stream, mimetype } = await openMedia(options, message)
      return { audio: { stream }, mimetype, seconds: 0 }
    }
    case 'voice_note': {
      // Fetched twice, because its length stands in the message that names it.
      const seconds = await lengthOf(options, message)
      const { stream } = await openMedia(options, message)
      return { audio: { stream }, ptt: true, mimetype: voiceType, seconds }
    }
    case 'document': {
      const { stream, mimetype, fileName } = await openMedia(options, message)
      return { document: { stream }, mimetype, fileName, caption }
    }
  }
}
