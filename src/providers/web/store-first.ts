// Stores an inbound message before the network is told that it arrived: the report runs inside the Signal transaction that decrypts it.
import type { BinaryNode, proto, SignalKeyStore, SignalRepositoryWithLIDStore } from 'baileys'
import type { WhatsApp } from './package.ts'
import { isOfNewKind, unseen } from './unknown-part.ts'

/** A decrypted message, with the attributes of the stanza that brought it. */
export interface Decrypted {
  attrs: Record<string, string>
  message: proto.IMessage
  /** Finds the number of a LID that the stanza does not name. */
  phoneOf: (lid: string) => Promise<string | null>
}

/** The gateway's store of inbound messages. */
export interface InboundStore {
  /** Resolves when the message is stored. */
  add: (decrypted: Decrypted) => Promise<void>
  /** A stanza could not be decrypted. Returns true if the message that came as this stanza is stored. */
  knows: (stanzaId: string, error: Error) => Promise<boolean>
}

/** The keys as the package hands them to its repository. */
export type Transactional = SignalKeyStore & { transaction: <T>(work: () => Promise<T>, key: string) => Promise<T> }

/** The stanza of each ciphertext, for as long as it is being decrypted. */
const stanzas = new WeakMap<Uint8Array, BinaryNode>()

/** Remembers the stanzas whose ciphertexts are about to be decrypted. */
export function noteStanza(stanza: BinaryNode): void {
  if (!Array.isArray(stanza.content)) return
  for (const { content } of stanza.content) if (content instanceof Uint8Array) stanzas.set(content, stanza)
}

/** A message without content, padded. */
const nothing = Buffer.from([1])

/**
 * Wraps the decryption, whose transaction commits the ratchet after the message is stored. A process that dies in between gets the stanza
 * again, decrypts it again, and the store recognizes it. A stanza that comes again because the network did not learn of its arrival cannot
 * be decrypted any more: its arrival is confirmed, in place of asking the sender for the message again.
 */
export function storeFirst(
  whatsApp: WhatsApp,
  repository: SignalRepositoryWithLIDStore,
  inbound: InboundStore,
): SignalRepositoryWithLIDStore {
  const { decryptMessage } = repository
  async function decryptAndStore(options: Parameters<typeof decryptMessage>[0]): Promise<Uint8Array> {
    const stanza = stanzas.get(options.ciphertext)
    const plain = await decryptMessage.call(repository, options).catch(async (error: Error) => {
      const { id } = stanza?.attrs ?? {}
      if (id && (await inbound.knows(id, error))) return undefined
      throw error
    })
    if (!plain) return nothing
    if (stanza) {
      const encoded = whatsApp.unpadRandomMax16(plain)
      const message = whatsApp.proto.Message.decode(encoded)
      const phoneOf = (lid: string) => repository.lidMapping.getPNForLID(lid)
      await inbound.add({ attrs: stanza.attrs, message: isOfNewKind(message, encoded) ? unseen : message, phoneOf })
    }
    return plain
  }
  return Object.assign(repository, { decryptMessage: decryptAndStore })
}

/** Stores a message to be seen once, of which a linked device learns nothing but that it came. */
export async function storeUnseen(
  { attrs, content }: BinaryNode,
  { lidMapping }: SignalRepositoryWithLIDStore,
  inbound: InboundStore,
): Promise<void> {
  const parts = Array.isArray(content) ? content : []
  const isHidden = parts.some(({ tag, attrs }) => tag === 'unavailable' && attrs.type?.startsWith('view_once'))
  if (!isHidden || parts.some(({ tag }) => tag === 'enc')) return
  await inbound.add({ attrs, message: unseen, phoneOf: (lid) => lidMapping.getPNForLID(lid) })
}
