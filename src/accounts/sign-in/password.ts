// Password hashing: Argon2id with OWASP's parameters, stored as a PHC string.
import { AsyncLocalStorage } from 'node:async_hooks'
import { type Argon2Parameters, argon2, randomBytes, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { createTurns, type Requester } from './turns.ts'

const derive = promisify(argon2)
const cost = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }

/** Sets the memory of new hashes in KiB, for tests: a hash with OWASP's memory takes about 40 ms of processor time. */
export function setHashMemory(kib: number): void {
  cost.memory = kib
}

function head(): string {
  return `$argon2id$v=19$m=${cost.memory},t=${cost.passes},p=${cost.parallelism}$`
}

/**
 * Returns `$argon2id$v=19$m=…,t=…,p=…$salt$hash` with a random salt. If `like` is such a string, its salt is used, so that the same
 * password gives the same string.
 * @throws API_RATE_LIMIT_EXCEEDED when the party has too many queued requests; SERVICE_UNAVAILABLE when too many are queued in all.
 */
export async function hashPassword(password: string, like?: string | null): Promise<string> {
  const nonce = saltOf(like) ?? randomBytes(16)
  const tag = await digest({ ...cost, message: password, nonce })
  return `${head()}${base64(nonce)}$${base64(tag)}`
}

function saltOf(hash: string | null | undefined): Buffer | undefined {
  return hash?.startsWith(head()) ? Buffer.from(hash.slice(head().length).split('$')[0] as string, 'base64') : undefined
}

/** False also for a string that is not such a hash. @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE when {@link hashPassword} does. */
export async function verifyPassword(hash: string, password: string): Promise<boolean> {
  const parts = hash.match(/^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([\w+/]+)\$([\w+/]+)$/)
  if (!parts) return false
  const [memory, passes, parallelism] = parts.slice(1, 4).map(Number) as [number, number, number]
  const [nonce, expected] = parts.slice(4).map((part) => Buffer.from(part, 'base64')) as [Buffer, Buffer]
  const tag = await digest({ memory, passes, parallelism, tagLength: expected.length, message: password, nonce })
  return timingSafeEqual(tag, expected)
}

async function digest({ message, ...parameters }: Argon2Parameters & { message: string }): Promise<Buffer> {
  const requester = currentRequester.getStore() ?? { queue: 'internal', party: '' }
  // The same letters may be typed as different code points.
  return await turns.take(requester, () => derive('argon2id', { ...parameters, message: message.normalize('NFKC') }))
}

/**
 * `anonymous` are anonymous clients; each network is a party. `known` are people who are signed in and devices that signed in before; each
 * account is a party. `internal` is work that no client requests.
 */
export type HashingQueue = 'anonymous' | 'known' | 'internal'

/**
 * Each hash takes a processor and 19 MiB, so this process computes two at a time. A network or an account has one turn at a time, which
 * leaves the other turn to other parties.
 */
const turns = createTurns<HashingQueue>(2, {
  anonymous: { running: 1, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  known: { running: 1, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  internal: { running: 2, waiting: 100, inAll: 100, full: 'SERVICE_UNAVAILABLE' },
})

/** AsyncLocalStorage carries the requester, because better-auth hashes and verifies in callbacks that do not know the request. */
const currentRequester = new AsyncLocalStorage<Requester<HashingQueue>>()

/** Runs work whose hashing is queued for that requester. Hashing outside of this function is `internal` work. */
export function hashingFor<T>(requester: Requester<HashingQueue>, work: () => Promise<T>): Promise<T> {
  return currentRequester.run(requester, work)
}

function base64(bytes: Buffer): string {
  return bytes.toString('base64').replaceAll('=', '')
}
