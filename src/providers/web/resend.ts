// Composes a message again that its recipient could not decrypt. The package itself remembers only what this process sent lately.
import type { proto, WAMessageKey } from 'baileys'
import type { App } from '../../core/app.ts'
import { addressOf, jidOf } from './address.ts'
import { nativeContent } from './buttons.ts'
import { contentOf, nativeOf } from './content.ts'
import type { Host } from './host.ts'
import type { Live } from './live.ts'
import { MediaRejected } from './media.ts'
import { silent } from './package.ts'

export interface ResendOptions {
  app: App
  host: Host
  live: Live
  instanceId: string
}

/** Undefined for a message that is not stored any more, that another recipient got, or whose file is gone. */
export async function sentContent(
  { app, host, live, instanceId }: ResendOptions,
  { id, remoteJid }: WAMessageKey,
): Promise<proto.IMessage | undefined> {
  if (!id || !remoteJid) return undefined
  const [message, instance] = await Promise.all([host.sent(instanceId, id), host.instance(instanceId)])
  if (!message || !instance) return undefined
  const { socket, whatsApp, upload } = live
  const jid = await addressOf(app, instanceId, message.to)
  const asking = whatsApp.isLidUser(remoteJid) ? await socket.signalRepository.lidMapping.getPNForLID(remoteJid) : remoteJid
  // It may have left before the network named another address.
  const addresses = [jid, jidOf(message.to)]
  if (!asking || !addresses.some((address) => whatsApp.areJidsSameUser(asking, address))) return undefined
  const options = { app, host, live, instance, jid, stanzaId: id }
  const native = nativeOf(options, message)
  if (native) return nativeContent(options, native)
  try {
    const content = await contentOf(options, message)
    return await whatsApp.generateWAMessageContent(content, { upload, logger: silent })
  } catch (error) {
    if (error instanceof MediaRejected) return undefined
    throw error
  }
}
