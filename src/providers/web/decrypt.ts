// Decrypts a file of WhatsApp Web as it comes: AES-256-CBC, followed by a code that authenticates all of it.
import { createDecipheriv, createHmac, timingSafeEqual } from 'node:crypto'
import { fail } from '../../core/errors.ts'

export interface MediaKeys {
  iv: Uint8Array
  cipherKey: Uint8Array
  macKey: Uint8Array
}

const macBytes = 10

/**
 * The bytes of the file. They are genuine only once the last one was read without an error, and one block of them is in memory.
 * @throws VALIDATION_ERROR at the end, when the code is wrong or the file is too short
 */
export async function* decrypted(sealed: AsyncIterable<Buffer>, { iv, cipherKey, macKey }: MediaKeys): AsyncGenerator<Buffer> {
  const hmac = createHmac('sha256', macKey).update(iv)
  const decipher = createDecipheriv('aes-256-cbc', cipherKey, iv)
  let rest: Buffer = Buffer.alloc(0)
  for await (const block of sealed) {
    const all = Buffer.concat([rest, block])
    const end = Math.max(0, all.length - macBytes)
    rest = all.subarray(end)
    const body = all.subarray(0, end)
    hmac.update(body)
    yield decipher.update(body)
  }
  const mac = hmac.digest().subarray(0, macBytes)
  if (rest.length < macBytes || !timingSafeEqual(mac, rest)) changed()
  yield finalOf(() => decipher.final())
}

/** Padding that is wrong under a right code was so when it was sealed, and no further try changes it. */
function finalOf(final: () => Buffer): Buffer {
  try {
    return final()
  } catch {
    return changed()
  }
}

function changed(): never {
  return fail('VALIDATION_ERROR', 'the file was changed on its way')
}
