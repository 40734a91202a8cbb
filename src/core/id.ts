// Ids are UUID v7: they sort by creation time, so indexes grow at one end.
import { randomFillSync, randomInt } from 'node:crypto'
import { v7 } from 'uuid'

let msecs = 0
let seq = 0

/** Random bytes for 256 ids: an id takes 0.3 µs, and 1.6 µs if it asks for its own. */
const random = new Uint8Array(16 * 256)
let used = random.length

function nextRandom(): Uint8Array {
  if (used === random.length) {
    randomFillSync(random)
    used = 0
  }
  used += 16
  return random.subarray(used - 16, used)
}

/**
 * Returns a new id, greater than all earlier ones of this process. Ids of the same millisecond are a random distance apart:
 * consecutive numbers would reveal how many ids were created in between for others.
 */
export function newId(): string {
  const now = Date.now()
  if (now > msecs) {
    msecs = now
    seq = randomInt(2 ** 31)
  } else {
    seq += randomInt(1, 2 ** 16)
    if (seq >= 2 ** 32) {
      msecs++
      seq = randomInt(2 ** 31)
    }
  }
  return v7({ msecs, seq, rng: nextRandom })
}

/** The nil UUID. It sorts before every id, and no row has it. */
export const nilId = '00000000-0000-0000-0000-000000000000'

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** True if a text is an id as the gateway writes it, in lower case. */
export function isId(value: unknown): value is string {
  return typeof value === 'string' && form.test(value)
}
