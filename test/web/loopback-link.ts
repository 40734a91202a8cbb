// The stanza that links a device to an account: its identity, signed by the phone.
import { randomBytes } from 'node:crypto'
import { type BinaryNode, Curve, encodeBigEndian, hmacSign, proto } from 'baileys'
import type { DeviceKeys } from './loopback-phone.ts'

const server = 's.whatsapp.net'

/** The stanza that asks an unpaired device to show codes. */
export function pairingOffer(): BinaryNode {
  const refs = Array.from({ length: 6 }, () => {
    const content = Buffer.from(`2@${randomBytes(16).toString('base64')}`)
    return { tag: 'ref', attrs: {}, content }
  })
  const content = [{ tag: 'pair-device', attrs: {}, content: refs }]
  return { tag: 'iq', attrs: { from: server, type: 'set', id: 'pair1', xmlns: 'md' }, content }
}

/** The receipt with which a phone asks for a message again. */
export function retryOf(id: string, from: string): BinaryNode {
  const t = String(Math.floor(Date.now() / 1000))
  const retry = { tag: 'retry', attrs: { count: '1', id, t, v: '1' } }
  const registration = { tag: 'registration', attrs: {}, content: encodeBigEndian(1234) }
  return { tag: 'receipt', attrs: { id, from, type: 'retry', t }, content: [retry, registration] }
}

/** `secret` is the key that the device showed to the phone, or that both made from a code. */
export function linkOf(
  { eRegid, eIdent, eSkeyId, eSkeyVal, eSkeySig }: proto.ClientPayload.IDevicePairingRegistrationData,
  digits: string,
  secret: Buffer,
): { keys: DeviceKeys; stanza: BinaryNode } {
  const number = (bytes: Uint8Array | null | undefined) => Buffer.from(bytes ?? []).readUIntBE(0, bytes?.length ?? 0)
  const identity = eIdent as Uint8Array
  const signedPreKey = { keyId: number(eSkeyId), publicKey: eSkeyVal as Uint8Array, signature: eSkeySig as Uint8Array }
  const owner = Curve.generateKeyPair()
  const details = proto.ADVDeviceIdentity.encode({ rawId: 1, timestamp: 1, keyIndex: 1 }).finish()
  const accountSignature = Curve.sign(owner.private, Buffer.concat([Buffer.from([6, 0]), details, identity]))
  const signed = { details, accountSignatureKey: owner.public, accountSignature }
  const identityBytes = proto.ADVSignedDeviceIdentity.encode(signed).finish()
  const sealed = { details: identityBytes, hmac: hmacSign(identityBytes, secret) }
  const content: BinaryNode[] = [
    { tag: 'device-identity', attrs: {}, content: proto.ADVSignedDeviceIdentityHMAC.encode(sealed).finish() },
    { tag: 'platform', attrs: { name: 'android' } },
    { tag: 'device', attrs: { jid: `${digits}:1@${server}`, lid: `7${digits}:1@lid` } },
  ]
  const attrs = { from: server, type: 'set', id: 'pair2', xmlns: 'md' }
  return {
    keys: { registrationId: number(eRegid), identity, signedPreKey },
    stanza: { tag: 'iq', attrs, content: [{ tag: 'pair-success', attrs: {}, content }] },
  }
}
