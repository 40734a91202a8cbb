// Messages that the account's phone hands over to this device, because they came without a part that is encrypted for it.
import type { WhatsApp } from './package.ts'
import type { Decrypted } from './store-first.ts'
import { saysNothing, unseen } from './unknown-part.ts'

/** The messages in an answer of the phone, each as if it had come by itself. The package asks for them, such as those from an advertisement. */
export function handedOver({ proto }: Pick<WhatsApp, 'proto'>, { message, phoneOf }: Decrypted): Decrypted[] {
  const results = message.protocolMessage?.peerDataOperationRequestResponseMessage?.peerDataOperationResult ?? []
  return results.flatMap(({ placeholderMessageResendResponse: answer }) => {
    if (!answer?.webMessageInfoBytes) return []
    const { key, message, messageTimestamp } = proto.WebMessageInfo.decode(answer.webMessageInfoBytes)
    if (!key?.id || !key.remoteJid || key.fromMe || !message) return []
    const { id, remoteJid: from, participant } = key
    const attrs = { id, from, ...(participant && { participant }), ...(messageTimestamp && { t: String(messageTimestamp) }) }
    // The gateway asks only for messages that a person wrote, so one without known content is of an unknown kind.
    return [{ attrs, message: saysNothing(message) ? unseen : message, phoneOf }]
  })
}
