// Encryption at rest: AES-256-GCM under SECRET_KEY, as nonce (12 bytes) + tag (16) + ciphertext.
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'

export interface Sealer {
  seal: (plain: string | Buffer) => Buffer<ArrayBuffer>
  /** @throws Error when the bytes were not sealed under this key. */
  open: (sealed: Uint8Array) => Buffer
  /** Returns undefined if the bytes were not sealed under this key. */
  tryOpen: (sealed: Uint8Array) => Buffer | undefined
  /** Derives a key of 32 bytes for one purpose; it is the same in every process with this key. */
  derive: (purpose: string) => Buffer
}

export function createSealer(key: Buffer): Sealer {
  const sealer: Sealer = {
    seal(plain) {
      const nonce = randomBytes(12)
      const cipher = createCipheriv('aes-256-gcm', key, nonce)
      const body = Buffer.concat([cipher.update(plain), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), body])
    },
    open(sealed) {
      const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12))
      decipher.setAuthTag(bytes.subarray(12, 28))
      return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()])
    },
    tryOpen(sealed) {
      try {
        return sealer.open(sealed)
      } catch {
        return undefined
      }
    },
    derive: (purpose) => createHmac('sha256', key).update(purpose).digest(),
  }
  return sealer
}
