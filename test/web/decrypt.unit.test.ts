// Proves that a file of WhatsApp Web is decrypted as it comes, and that nothing but the genuine file ends without an error.
import { createCipheriv, createHmac, randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { decrypted } from '../../src/providers/web/decrypt.ts'

const keys = { iv: randomBytes(16), cipherKey: randomBytes(32), macKey: randomBytes(32) }
const refused = expect.objectContaining({ message: 'the file was changed on its way' })

/** Seals a file; `padded` is false for one whose padding is wrong although its code is right. */
function seal(plain: Buffer, padded = true): Buffer {
  const cipher = createCipheriv('aes-256-cbc', keys.cipherKey, keys.iv).setAutoPadding(padded)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return Buffer.concat([body, createHmac('sha256', keys.macKey).update(keys.iv).update(body).digest().subarray(0, 10)])
}

async function* inBlocks(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

async function open(sealed: Buffer, size: number): Promise<Buffer> {
  const parts: Buffer[] = []
  for await (const part of decrypted(inBlocks(sealed, size), keys)) parts.push(part)
  return Buffer.concat(parts)
}

describe('a file of WhatsApp Web', () => {
  it.each([1, 7, 10, 16, 1_000, 100_000])('is the same in blocks of %i bytes', async (size) => {
    for (const length of [0, 1, 15, 16, 17, 5_000]) {
      const plain = randomBytes(length)
      expect(await open(seal(plain), size)).toEqual(plain)
    }
  })

  it('is refused if a byte of it, of its code or its end is not genuine', async () => {
    const sealed = seal(randomBytes(100))
    for (const at of [0, 50, sealed.length - 1]) {
      const other = Buffer.from(sealed)
      other[at] = (other[at] as number) ^ 1
      await expect(open(other, 64)).rejects.toEqual(refused)
    }
    for (const length of [0, 5, 10, 40]) await expect(open(sealed.subarray(0, length), 64)).rejects.toEqual(refused)
  })

  it('is refused, and not asked for again, if it was sealed with a padding that is none', async () => {
    await expect(open(seal(Buffer.alloc(32), false), 64)).rejects.toEqual(refused)
  })
})
