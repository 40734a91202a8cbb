// Passwords at rest: Argon2id with OWASP's parameters, as a PHC string.
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { fail } from '../core/errors.ts'

const derive = promisify(argon2)
const maxAtOnce = 2
const maxWaiting = 100
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }

/** `$argon2id$v=19$m=…,t=…,p=…$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const nonce = randomBytes(16)
  const tag = await digest({ ...cost, message: password, nonce })
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$${base64(nonce)}$${base64(tag)}`
}

/** False for a wrong password, and for a string that this did not make. */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const parts = hash.match(/^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/)
  if (!parts) return false
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  const [nonce, expected] = parts.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer]
  const tag = await digest({ memory, passes, parallelism, tagLength: expected.length, message: password, nonce })
  return timingSafeEqual(tag, expected)
}

async function digest({ message, ...parameters }: Argon2Parameters & { message: string }): Promise<Buffer> {
  // The same letters may be typed as different characters.
  return await inTurn(() => derive('argon2id', { ...parameters, message: message.normalize('NFKC') }))
}

let running = 0
const waiting: (() => void)[] = []

/** Hashing takes a processor and 19 MiB, so few do it at a time. @throws SERVICE_UNAVAILABLE where too many wait already. */
async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running < maxAtOnce) running++
  else if (waiting.length >= maxWaiting) fail('SERVICE_UNAVAILABLE')
  // Whoever ends hands the place on.
  else await new Promise<void>((resolve) => waiting.push(resolve))
  try {
    return await work()
  } finally {
    const next = waiting.shift()
    if (next) next()
    else running--
  }
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
