// A phone on the loopback network: decrypts what it is sent, and writes to others, with the Signal protocol.
import {
  type BinaryNode,
  Curve,
  encodeBigEndian,
  encodeWAMessage,
  generateSignalPubKey,
  proto,
  signedKeyPair,
  unpadRandomMax16,
  writeRandomPadMax16,
} from 'baileys'
import libsignal, { type SessionRecord } from 'libsignal'

/** The keys with which a linked device registered. */
export interface DeviceKeys {
  registrationId: number
  identity: Uint8Array
  signedPreKey: { keyId: number; publicKey: Uint8Array; signature: Uint8Array }
}

export interface Phone {
  digits: string
  lid: string
  /** Its keys, as the server hands them out. */
  bundle: (jid: string) => BinaryNode
  decrypt: (sender: string, type: string, sealed: Uint8Array) => Promise<proto.Message>
  /** Begins anew with an account that cannot decrypt. */
  forget: (account: string) => void
  /** The stanza with a message to an account, which may be encoded already. */
  stanza: (to: string, keys: DeviceKeys, message: proto.IMessage | Uint8Array, id: string) => Promise<BinaryNode>
}

const prefixed = (key: Uint8Array) => Buffer.from(generateSignalPubKey(key))
const pairOf = ({ public: pubKey, private: privKey }: { public: Uint8Array; private: Uint8Array }) => ({
  privKey: Buffer.from(privKey),
  pubKey: prefixed(pubKey),
})

export function createPhone(digits: string): Phone {
  const identity = Curve.generateKeyPair()
  const signed = signedKeyPair(identity, 1)
  const oneTime = { id: 7, pair: Curve.generateKeyPair() }
  const registrationId = 1234
  const sessions = new Map<string, SessionRecord>()
  const store = {
    loadSession: async (id: string) => sessions.get(id),
    storeSession: async (id: string, session: SessionRecord) => void sessions.set(id, session),
    isTrustedIdentity: () => true,
    loadPreKey: async () => pairOf(oneTime.pair),
    removePreKey() {},
    loadSignedPreKey: () => pairOf(signed.keyPair),
    getOurRegistrationId: () => registrationId,
    getOurIdentity: () => pairOf(identity),
  }
  const addressOf = (account: string) => new libsignal.ProtocolAddress(account, 1)
  const key = (tag: string, content: BinaryNode[]): BinaryNode => ({ tag, attrs: {}, content })
  const leaf = (tag: string, content: Uint8Array): BinaryNode => ({ tag, attrs: {}, content })
  return {
    digits,
    lid: `9${digits}@lid`,
    bundle: (jid) => ({
      tag: 'user',
      attrs: { jid },
      content: [
        leaf('registration', encodeBigEndian(registrationId)),
        leaf('type', Buffer.from([5])),
        leaf('identity', identity.public),
        key('skey', [
          leaf('id', encodeBigEndian(1, 3)),
          leaf('value', signed.keyPair.public),
          leaf('signature', signed.signature),
        ]),
        key('key', [leaf('id', encodeBigEndian(oneTime.id, 3)), leaf('value', oneTime.pair.public)]),
      ],
    }),
    async decrypt(sender, type, sealed) {
      const cipher = new libsignal.SessionCipher(store, addressOf(sender))
      const bytes = Buffer.from(sealed)
      const padded =
        type === 'pkmsg' ? await cipher.decryptPreKeyWhisperMessage(bytes) : await cipher.decryptWhisperMessage(bytes)
      return proto.Message.decode(unpadRandomMax16(padded))
    },
    forget: (account) => void sessions.delete(addressOf(account).toString()),
    async stanza(to, { registrationId: theirs, identity: identityKey, signedPreKey }, message, id) {
      if (!sessions.has(addressOf(to).toString())) {
        // A session without a one-time key, which the declaration of the package does not know.
        type Bundle = Parameters<libsignal.SessionBuilder['initOutgoing']>[0]
        await new libsignal.SessionBuilder(store, addressOf(to)).initOutgoing({
          registrationId: theirs,
          identityKey: prefixed(identityKey),
          signedPreKey: {
            ...signedPreKey,
            publicKey: prefixed(signedPreKey.publicKey),
            signature: Buffer.from(signedPreKey.signature),
          },
        } as unknown as Bundle)
      }
      const { type, body } = await new libsignal.SessionCipher(store, addressOf(to)).encrypt(
        Buffer.from(message instanceof Uint8Array ? writeRandomPadMax16(message) : encodeWAMessage(message)),
      )
      const content = typeof body === 'string' ? Buffer.from(body, 'binary') : body
      const attrs = {
        from: `9${digits}@lid`,
        sender_pn: `${digits}@s.whatsapp.net`,
        addressing_mode: 'lid',
        id,
        t: String(Math.floor(Date.now() / 1000)),
        type: 'text',
        notify: 'Ann',
      }
      return { tag: 'message', attrs, content: [{ tag: 'enc', attrs: { v: '2', type: type === 3 ? 'pkmsg' : 'msg' }, content }] }
    },
  }
}
