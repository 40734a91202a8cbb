// Tells the network that an inbound message was read.
import { jidOf } from './address.ts'
import type { Live } from './live.ts'

/** `from` is a number, or the LID of a sender whose number is not known. Returns true. */
export async function markRead({ socket }: Live, { from, stanzaId }: { from: string; stanzaId: string }): Promise<true> {
  const remoteJid = from.endsWith('@lid') ? from : jidOf(from)
  await socket.readMessages([{ remoteJid, id: stanzaId, fromMe: false }])
  return true
}
