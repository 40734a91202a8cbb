// Two sides that begin to write to each other at once have two sessions. Every message of both is decrypted, in any order of events.
import { Curve, generateSignalPubKey, signedKeyPair } from 'baileys'
import libsignal from 'libsignal'
import { expect, it } from 'vitest'
import { muteSignalKeys } from '../../src/providers/web/mute-console.ts'
import { undoFailedTrials } from '../../src/providers/web/session-trials.ts'
import { seeded } from '../faults/rig.ts'

muteSignalKeys()
undoFailedTrials()

type Bundle = Parameters<libsignal.SessionBuilder['initOutgoing']>[0]
type Message = Awaited<ReturnType<libsignal.SessionCipher['encrypt']>>

const prefixed = (key: Uint8Array) => Buffer.from(generateSignalPubKey(key))
const pairOf = ({ public: pubKey, private: privKey }: { public: Uint8Array; private: Uint8Array }) => ({
  privKey: Buffer.from(privKey),
  pubKey: prefixed(pubKey),
})

function createSide(name: string) {
  const identity = Curve.generateKeyPair()
  const signed = signedKeyPair(identity, 1)
  const stored = new Map<string, string>()
  const store = {
    // As a database does, it returns a copy.
    loadSession: async (id: string) => {
      const text = stored.get(id)
      return text === undefined ? undefined : libsignal.SessionRecord.deserialize(JSON.parse(text))
    },
    storeSession: async (id: string, record: libsignal.SessionRecord) => void stored.set(id, JSON.stringify(record.serialize())),
    isTrustedIdentity: () => true,
    loadPreKey: async () => undefined,
    removePreKey() {},
    loadSignedPreKey: () => pairOf(signed.keyPair),
    getOurRegistrationId: () => 1,
    getOurIdentity: () => pairOf(identity),
  }
  const bundle = {
    registrationId: 1,
    identityKey: prefixed(identity.public),
    signedPreKey: { keyId: 1, publicKey: prefixed(signed.keyPair.public), signature: Buffer.from(signed.signature) },
  } as unknown as Bundle
  return { name, store, bundle, inbox: [] as Message[], read: [] as string[] }
}

type Side = ReturnType<typeof createSide>
const addressOf = ({ name }: Side) => new libsignal.ProtocolAddress(name, 1)
const begin = (from: Side, to: Side) => new libsignal.SessionBuilder(from.store as never, addressOf(to)).initOutgoing(to.bundle)

async function write(from: Side, to: Side, text: string): Promise<void> {
  to.inbox.push(await new libsignal.SessionCipher(from.store as never, addressOf(to)).encrypt(Buffer.from(text)))
}

async function readNext(to: Side, from: Side): Promise<void> {
  const message = to.inbox.shift()
  if (!message) return
  const cipher = new libsignal.SessionCipher(to.store as never, addressOf(from))
  const body = typeof message.body === 'string' ? Buffer.from(message.body, 'binary') : Buffer.from(message.body)
  const plain = message.type === 3 ? await cipher.decryptPreKeyWhisperMessage(body) : await cipher.decryptWhisperMessage(body)
  to.read.push(Buffer.from(plain).toString())
}

it.each([1, 2, 3, 4, 5])('every message is decrypted once, in order (seed %i)', async (seed) => {
  const random = seeded(seed)
  const [phone, device] = [createSide(`phone ${seed}`), createSide(`device ${seed}`)]
  await begin(phone, device)
  await begin(device, phone)
  const written: Record<string, string[]> = { [phone.name]: [], [device.name]: [] }
  for (let i = 0; i < 60; i++) {
    const [one, other] = random() < 0.5 ? [phone, device] : [device, phone]
    const step = random()
    if (step < 0.45) {
      written[one.name]?.push(`${i}`)
      await write(one, other, `${i}`)
    } else if (step < 0.95) await readNext(one, other)
    // A recipient that asks for a message again gets a new session.
    else await begin(one, other)
  }
  while (phone.inbox.length + device.inbox.length > 0) {
    await readNext(phone, device)
    await readNext(device, phone)
  }
  expect(device.read).toEqual(written[phone.name])
  expect(phone.read).toEqual(written[device.name])
})
