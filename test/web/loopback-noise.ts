// Server's side of a Noise connection of WhatsApp Web: the handshake (XX), and the frames after it.
import { createHash } from 'node:crypto'
import {
  aesDecryptGCM,
  aesEncryptGCM,
  type BinaryNode,
  Curve,
  decodeBinaryNode,
  encodeBinaryNode,
  hkdf,
  NOISE_MODE,
  NOISE_WA_HEADER,
  proto,
} from 'baileys'
import type { WebSocket } from 'ws'

const none = Buffer.alloc(0)
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest()

function pairOf(publicHex: string, privateHex: string) {
  return { public: Buffer.from(publicHex, 'hex'), private: Buffer.from(privateHex, 'hex') }
}

/** Made for this server, and the same in every run, so that gateways in child processes can be told the root before the server exists. */
const root = pairOf(
  '8a03b9907740db1a9577be6846923ec5bebdde2a160a357504a5e40b7903243d',
  '808f3a44315cba7c78b6d71fe88d236efbea59fcc49e900f4503fb6d8592a97b',
)
const intermediate = pairOf(
  'ce6c09f39453ae02941f5614c825db3dce3eeac30242866363ddf62dab11f448',
  'd82e1fa898725e7b166e67d1af1aa72ae425beceaccbc79245e561dbaefca14d',
)
const own = pairOf(
  '602466b159836fc7f3f86d87c8d4f5c4329fbacdcfbd452cad4bf188a68a761f',
  '701d1603de4eade381a3bdefc086afbb65f38d00ed93690c6e817d9a73a08f6a',
)

/** Value of WEB_ROOT_KEY. */
export const rootKey = root.public.toString('hex')

const details = (serial: number, issuerSerial: number, key: Uint8Array) =>
  proto.CertChain.NoiseCertificate.Details.encode({ serial, issuerSerial, key }).finish()
const intermediateDetails = details(1, 0, intermediate.public)
const leafDetails = details(2, 1, own.public)
const chain = proto.CertChain.encode({
  intermediate: { details: intermediateDetails, signature: Curve.sign(root.private, intermediateDetails) },
  leaf: { details: leafDetails, signature: Curve.sign(intermediate.private, leafDetails) },
}).finish()

export interface NoiseConnection {
  send: (node: BinaryNode) => void
}

export interface NoiseHandlers {
  /** The client has proved that it knows its key. */
  opened: (payload: proto.ClientPayload) => void | Promise<void>
  node: (node: BinaryNode) => void | Promise<void>
  fault: (error: Error) => void
}

/** Reads the handshake and then nodes from a socket, one after another. */
export function acceptNoise(ws: WebSocket, { opened, node, fault }: NoiseHandlers): NoiseConnection {
  let hash = Buffer.from(NOISE_MODE)
  if (hash.length !== 32) hash = sha256(hash)
  let salt = hash
  let key = hash
  let counter = 0
  const nonce = (n: number) => {
    const bytes = Buffer.alloc(12)
    bytes.writeUInt32BE(n, 8)
    return bytes
  }
  const authenticate = (data: Uint8Array) => {
    hash = sha256(Buffer.concat([hash, data]))
  }
  const expand = (data: Uint8Array) => {
    const expanded = Buffer.from(hkdf(data, 64, { salt, info: '' }))
    return [expanded.subarray(0, 32), expanded.subarray(32)] as const
  }
  const mix = (data: Uint8Array) => {
    ;[salt, key] = expand(data)
    counter = 0
  }
  const encrypt = (plain: Uint8Array) => {
    const sealed = aesEncryptGCM(plain, key, nonce(counter++), hash)
    authenticate(sealed)
    return sealed
  }
  const decrypt = (sealed: Uint8Array) => {
    const plain = aesDecryptGCM(sealed, key, nonce(counter++), hash)
    authenticate(sealed)
    return plain
  }
  const frame = (bytes: Uint8Array) => {
    const length = Buffer.alloc(3)
    length.writeUIntBE(bytes.length, 0, 3)
    ws.send(Buffer.concat([length, bytes]))
  }

  const ephemeral = Curve.generateKeyPair()
  let stage: 'hello' | 'finish' | 'open' = 'hello'
  let keys: { to: Buffer; from: Buffer } | undefined
  let sent = 0
  let received = 0

  async function take(bytes: Buffer): Promise<void> {
    if (stage === 'hello') {
      const theirs = proto.HandshakeMessage.decode(bytes).clientHello?.ephemeral as Uint8Array
      authenticate(NOISE_WA_HEADER)
      authenticate(theirs)
      authenticate(ephemeral.public)
      mix(Curve.sharedKey(ephemeral.private, theirs))
      const sealedKey = encrypt(own.public)
      mix(Curve.sharedKey(own.private, theirs))
      const serverHello = { ephemeral: ephemeral.public, static: sealedKey, payload: encrypt(chain) }
      frame(proto.HandshakeMessage.encode({ serverHello }).finish())
      stage = 'finish'
    } else if (stage === 'finish') {
      const finish = proto.HandshakeMessage.decode(bytes).clientFinish
      const theirKey = decrypt(finish?.static as Uint8Array)
      mix(Curve.sharedKey(ephemeral.private, theirKey))
      const payload = proto.ClientPayload.decode(decrypt(finish?.payload as Uint8Array))
      const [from, to] = expand(none)
      keys = { from, to }
      stage = 'open'
      await opened(payload)
    } else if (keys) await node(await decodeBinaryNode(aesDecryptGCM(bytes, keys.from, nonce(received++), none)))
  }

  let pending: Buffer = none
  let introduced = false
  let taking = Promise.resolve()
  ws.on('message', (data: Buffer) => {
    pending = Buffer.concat([pending, data])
    if (!introduced && pending.length >= 4) {
      pending = pending.subarray(4)
      introduced = true
    }
    while (introduced && pending.length >= 3) {
      const length = pending.readUIntBE(0, 3)
      if (pending.length < length + 3) break
      const bytes = Buffer.from(pending.subarray(3, length + 3))
      pending = pending.subarray(length + 3)
      taking = taking.then(() => take(bytes)).catch(fault)
    }
  })

  return {
    send(node) {
      if (keys && ws.readyState === ws.OPEN) frame(aesEncryptGCM(encodeBinaryNode(node), keys.to, nonce(sent++), none))
    },
  }
}
