// Keeps the sessions of a sender whole. libsignal tries one after the other until one decrypts, and each that does not fit is left changed
// and stored with the rest. Two sides that begin at once have two sessions, so the next message of the other one could not be decrypted.
import { createRequire } from 'node:module'

interface Session {
  serialize: () => object
  constructor: { deserialize: (data: object) => object }
}

interface SignalLibrary {
  SessionCipher: { prototype: { doDecryptWhisperMessage: (bytes: Uint8Array, session?: Session) => Promise<Uint8Array> } }
}

let done = false

/** Gives a session that could not decrypt a message its former state back, for the whole process. */
export function undoFailedTrials(): void {
  if (done) return
  done = true
  const { SessionCipher } = signalLibrary()
  const { doDecryptWhisperMessage: decrypt } = SessionCipher.prototype
  SessionCipher.prototype.doDecryptWhisperMessage = async function (bytes, session) {
    const before = session?.serialize()
    try {
      return await decrypt.call(this, bytes, session)
    } catch (error) {
      if (session && before) Object.assign(session, session.constructor.deserialize(before))
      throw error
    }
  }
}

/** The instance of libsignal that the package itself uses. */
function signalLibrary(): SignalLibrary {
  const { resolve } = createRequire(import.meta.url)
  return createRequire(resolve('baileys'))('libsignal')
}
