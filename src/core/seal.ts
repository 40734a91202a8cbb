// Encryption at rest: AES-256-GCM under SECRET_KEY, as nonce (12 bytes) + tag (16) + ciphertext. The tag tells which key fits.
import { createCipheriv, createDecipheriv, createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

export interface Sealer {
  /** Encrypts under the current key. */
  seal: (plain: string | Buffer) => Buffer<ArrayBuffer>
  /** @throws Error when the bytes were not sealed under the current or the previous key. */
  open: (sealed: Uint8Array) => Buffer
  /** Returns undefined if the bytes were not sealed under the current or the previous key. */
  tryOpen: (sealed: Uint8Array) => Buffer | undefined
  /** Derives a key of 32 bytes for one purpose; it is the same in every process with this key. */
  derive: (purpose: string) => Buffer
  /** The key that {@link Sealer.derive} returned under the previous key; undefined if there is none. */
  derivePrevious: (purpose: string) => Buffer | undefined
}

/** `previousSecret` is SECRET_KEY_PREVIOUS: it opens what it sealed, and seals nothing. */
export function createSealer(secret: Buffer, previousSecret?: Buffer): Sealer {
  // Node takes 22 µs to open a text with a key given as a Buffer, and 4 µs with a KeyObject.
  const key = createSecretKey(secret)
  const previous = previousSecret && createSecretKey(previousSecret)
  function tryOpen(sealed: Uint8Array): Buffer | undefined {
    return tryOpenUnder(key, sealed) ?? (previous && tryOpenUnder(previous, sealed))
  }
  return {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const opened = tryOpen(sealed)
      if (!opened) throw new Error('the bytes were not sealed under SECRET_KEY or SECRET_KEY_PREVIOUS')
      return opened
    },
    tryOpen,
    derive: (purpose) => derived(key, purpose),
    derivePrevious: (purpose) => previous && derived(previous, purpose),
  }
}

function tryOpenUnder(key: KeyObject, sealed: Uint8Array): Buffer | undefined {
  const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
  try {
    // Without this length a cut-off tag of 4 bytes would be taken, which can be guessed.
    const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12), { authTagLength: 16 })
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
  } catch {
    return undefined
  }
}

function derived(key: KeyObject, purpose: string): Buffer {
  return createHmac('sha256', key).update(purpose).digest()
}
