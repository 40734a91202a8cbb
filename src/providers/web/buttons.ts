// Buttons: numbered options in a text, whose answer is read back, or buttons of the network.
import { randomBytes } from 'node:crypto'
import type { proto } from 'baileys'
import type { App } from '../../core/app.ts'
import type { OutgoingMessage } from '../outgoing.ts'
import { phoneOf } from './address.ts'
import type { ComposeOptions } from './composing.ts'
import { type Option, readOptions, storeOptions } from './options.sql.ts'

export type ButtonsMessage = Extract<OutgoingMessage, { type: 'buttons' }>

/**
 * Stores the options of a message before it leaves, so that an answer that is faster than us is understood: under the number of its
 * address, which the answer comes from.
 */
export async function offerOptions({ app, instance, jid }: ComposeOptions, { to, content }: ButtonsMessage): Promise<void> {
  const options = content.buttons.map(({ id, displayText }) => ({ id, label: displayText }))
  await storeOptions(app.pool, instance.id, phoneOf(jid) ?? to, options)
}

/** The text of a message with numbered options. */
export function numberedButtons({ body, content }: ButtonsMessage): string {
  const { title, footer, buttons } = content
  const list = buttons.map(({ displayText }, i) => `${i + 1}. ${displayText}`).join('\n')
  return [title && `*${title}*`, body === title ? null : body, list, footer && `_${footer}_`].filter(Boolean).join('\n\n')
}

/**
 * The option that a text chooses: by its number or its label, in any case. The number comes first, because labels may be numbers too. A
 * phone may write an accent as a character of its own. Undefined if the sender was offered no such option lately.
 */
export async function chosenOption(app: App, instanceId: string, from: string, text: string): Promise<Option | undefined> {
  const plain = (value: string) => value.trim().normalize('NFC').toLowerCase()
  const answer = plain(text)
  if (answer === '' || answer.length > 100) return undefined
  const options = await readOptions(app.pool, instanceId, from)
  const numbered = options.find((_, i) => answer === `${i + 1}` || answer === `${i + 1}.`)
  return numbered ?? options.find(({ label }) => answer === plain(label))
}

/** Prepares buttons of the network. Their shape is that of its own clients; phones show them, and some other apps do not. */
export function nativeButtons(options: ComposeOptions, message: ButtonsMessage) {
  const { live, jid, stanzaId: messageId } = options
  const content = nativeContent(options, message)
  return () => live.socket.relayMessage(jid, content, { messageId, additionalNodes: [businessNode()] })
}

export function nativeContent(
  { live, jid, stanzaId: messageId }: ComposeOptions,
  { body, content }: ButtonsMessage,
): proto.IMessage {
  const { socket, whatsApp } = live
  const { proto, generateWAMessageFromContent } = whatsApp
  const interactiveMessage = proto.Message.InteractiveMessage.fromObject({
    header: { title: content.title ?? '', hasMediaAttachment: false },
    body: { text: body },
    ...(content.footer ? { footer: { text: content.footer } } : {}),
    nativeFlowMessage: {
      messageVersion: 1,
      buttons: content.buttons.map(({ id, displayText }) => ({
        name: 'quick_reply',
        buttonParamsJson: JSON.stringify({ display_text: displayText, id }),
      })),
    },
  })
  const userJid = socket.user?.id as string
  const { message } = generateWAMessageFromContent(jid, { interactiveMessage }, { userJid, messageId })
  return message as proto.IMessage
}

/** Without this node the server takes the message, and phones show nothing of it. */
function businessNode() {
  const seconds = `${Math.floor(Date.now() / 1000)}`
  const flow = { tag: 'native_flow', attrs: { v: '9', name: 'mixed' } }
  const decision = { decision_id: randomBytes(20).toString('hex'), source_type: 'third_party' }
  return {
    tag: 'biz',
    attrs: { actual_actors: '2', host_storage: '2', privacy_mode_ts: seconds },
    content: [
      { tag: 'interactive', attrs: { type: 'native_flow', v: '1' }, content: [flow] },
      { tag: 'quality_control', attrs: decision, content: [{ tag: 'decision_source', attrs: { value: 'df' } }] },
    ],
  }
}
