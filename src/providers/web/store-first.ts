// Stores an inbound message before the network is told that it arrived: the report runs inside the Signal transaction that decrypts it.
import type { BinaryNode, proto, SignalKeyStore, SignalRepositoryWithLIDStore } from 'baileys'
import type { WhatsApp } from './package.ts'

/** A decrypted message, with the attributes of the stanza that brought it. */
export interface Decrypted {
  attrs: Record<string, string>
  message: proto.IMessage
  /** Finds the number of a LID that the stanza does not name. */
  phoneOf: (lid: string) => Promise<string | null>
}

/** Resolves when the message is stored. */
export type ReportInbound = (decrypted: Decrypted) => Promise<void>

/** The keys as the package hands them to its repository. */
export type Transactional = SignalKeyStore & { transaction: <T>(work: () => Promise<T>, key: string) => Promise<T> }

/** The stanza of each ciphertext, for as long as it is being decrypted. */
const stanzas = new WeakMap<Uint8Array, BinaryNode>()

/** Remembers the stanzas whose ciphertexts are about to be decrypted. */
export function noteStanza(stanza: BinaryNode): void {
  if (!Array.isArray(stanza.content)) return
  for (const { content } of stanza.content) if (content instanceof Uint8Array) stanzas.set(content, stanza)
}

/**
 * Wraps the decryption, whose transaction commits the ratchet after the report. A process that dies in between gets the stanza again,
 * decrypts it again, and the report of it is recognized as a repeat.
 */
export function storeFirst(
  whatsApp: WhatsApp,
  repository: SignalRepositoryWithLIDStore,
  report: ReportInbound,
): SignalRepositoryWithLIDStore {
  const { decryptMessage } = repository
  async function decryptAndReport(options: Parameters<typeof decryptMessage>[0]): Promise<Uint8Array> {
    const plain = await decryptMessage.call(repository, options)
    const stanza = stanzas.get(options.ciphertext)
    if (stanza) {
      const message = whatsApp.proto.Message.decode(whatsApp.unpadRandomMax16(plain))
      const phoneOf = (lid: string) => repository.lidMapping.getPNForLID(lid)
      await report({ attrs: stanza.attrs, message, phoneOf })
    }
    return plain
  }
  return Object.assign(repository, { decryptMessage: decryptAndReport })
}
