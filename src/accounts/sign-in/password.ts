// Passwords at rest: Argon2id with OWASP's parameters, as a PHC string.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { type Asker, createTurns } from './turns.ts'

const derive = promisify(argon2)
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
const head = `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`

/**
 * `$argon2id$v=19$m=…,t=…,p=…$salt$hash`, with a salt of its own. With `like`, such a string, its salt is taken, so that the same
 * password becomes the same string. @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE where too many wait for their turn.
 */
export async function hashPassword(password: string, like?: string): Promise<string> {
  const nonce = saltOf(like) ?? randomBytes(16)
  const tag = await digest({ ...cost, message: password, nonce })
  return `${head}${base64(nonce)}$${base64(tag)}`
}

function saltOf(hash: string | undefined): Buffer | undefined {
  return hash?.startsWith(head) ? Buffer.from(hash.slice(head.length).split('$')[0] as string, 'base64') : undefined
}

/** False for a wrong password, and for a string that is no such hash. @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE. */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const parts = hash.match(/^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/)
  if (!parts) return false
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  const [nonce, expected] = parts.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer]
  const tag = await digest({ memory, passes, parallelism, tagLength: expected.length, message: password, nonce })
  return timingSafeEqual(tag, expected)
}

async function digest({ message, ...parameters }: Argon2Parameters & { message: string }): Promise<Buffer> {
  const asker = asking.getStore() ?? { queue: 'internal', party: '' }
  // The same letters may be typed as different characters.
  return await turns.take(asker, () => derive('argon2id', { ...parameters, message: message.normalize('NFKC') }))
}

/**
 * `strangers` are clients of whom nothing is known, each network a party. `known` are people who are signed in and devices that
 * signed in before, each account a party. `internal` is work that no client asks for.
 */
export type HashingQueue = 'strangers' | 'known' | 'internal'

/**
 * Each hash takes a processor and 19 MiB, so this process makes two at a time. A network and an account have one turn at a time:
 * the other is for somebody else.
 */
const turns = createTurns<HashingQueue>(2, {
  strangers: { running: 1, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  known: { running: 1, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  internal: { running: 2, waiting: 100, inAll: 100, full: 'SERVICE_UNAVAILABLE' },
})

/** The asker is carried beside the call stack, because better-auth hashes and verifies through callbacks that know no request. */
const asking = new AsyncLocalStorage<Asker<HashingQueue>>()

/** Runs work whose hashing waits among the requests of that asker; hashing outside of it is internal work. */
export function hashingFor<T>(asker: Asker<HashingQueue>, work: () => Promise<T>): Promise<T> {
  return asking.run(asker, work)
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
