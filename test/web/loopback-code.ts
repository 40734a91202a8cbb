// A phone's side of pairing by code: it proves to the device that it knows the code, and learns the device's keys.
import { randomBytes } from 'node:crypto'
import {
  aesDecryptCTR,
  aesDecryptGCM,
  aesEncryptCTR,
  type BinaryNode,
  Curve,
  derivePairingCodeKey,
  getBinaryNodeChild,
  hkdf,
} from 'baileys'

export interface CodeEntry {
  /** The device gets this once the code was entered. */
  notification: BinaryNode
  /** Reads the device's answer; returns the secret that both know. */
  finish: (answer: BinaryNode) => Buffer
}

const bytesOf = (node: BinaryNode, tag: string) => getBinaryNodeChild(node, tag)?.content as Uint8Array

/** `hello` is the node `link_code_companion_reg` with which the device asked for a code. */
export async function enterCode(hello: BinaryNode, code: string): Promise<CodeEntry> {
  const wrapped = Buffer.from(bytesOf(hello, 'link_code_pairing_wrapped_companion_ephemeral_pub'))
  const key = await derivePairingCodeKey(code, wrapped.subarray(0, 32))
  const deviceEphemeral = aesDecryptCTR(wrapped.subarray(48), key, wrapped.subarray(32, 48))
  const ephemeral = Curve.generateKeyPair()
  const identity = Curve.generateKeyPair()
  const shared = Curve.sharedKey(ephemeral.private, deviceEphemeral)
  const [salt, iv] = [randomBytes(32), randomBytes(16)]
  const own = Buffer.concat([salt, iv, aesEncryptCTR(ephemeral.public, await derivePairingCodeKey(code, salt), iv)])
  const content = [
    { tag: 'link_code_pairing_ref', attrs: {}, content: randomBytes(16) },
    { tag: 'primary_identity_pub', attrs: {}, content: identity.public },
    { tag: 'link_code_pairing_wrapped_primary_ephemeral_pub', attrs: {}, content: own },
  ]
  return {
    notification: {
      tag: 'notification',
      attrs: { from: 's.whatsapp.net', type: 'link_code_companion_reg', id: 'code1', t: String(Math.floor(Date.now() / 1000)) },
      content: [{ tag: 'link_code_companion_reg', attrs: { stage: 'primary_hello' }, content }],
    },
    finish(answer) {
      const bundle = Buffer.from(bytesOf(answer, 'link_code_pairing_wrapped_key_bundle'))
      const info = 'link_code_pairing_key_bundle_encryption_key'
      const bundleKey = hkdf(shared, 32, { salt: bundle.subarray(0, 32), info })
      const plain = aesDecryptGCM(bundle.subarray(44), bundleKey, bundle.subarray(32, 44), Buffer.alloc(0))
      const identityShared = Curve.sharedKey(identity.private, plain.subarray(0, 32))
      const secret = hkdf(Buffer.concat([shared, identityShared, plain.subarray(64)]), 32, { info: 'adv_secret' })
      return Buffer.from(secret)
    },
  }
}
