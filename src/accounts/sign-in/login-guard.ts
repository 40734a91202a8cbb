// Brute-force protection across all processes. Guesses by anonymous clients do not lock the owner of an address out.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { codeOf, failFor } from '../../core/errors.ts'
import { type Bound, type Delay, uncount } from '../counts.sql.ts'
import { type Counted, countDelayed, countDigest, countOne, forgetCounts } from '../counts.ts'
import { type Claimant, inTurnOf, refuseIfFull } from './claimant.ts'

/** Failures for one address from one network. */
const perNetwork: Bound = { most: 5, minutes: 15 }

/** Failures for one address from all networks of anonymous clients together: four times as many are free of delay. */
const perAddress: Delay = { free: 20, minutes: 15, firstSeconds: 15 }

/** Failures of one known device or one signed-in person: a growing delay, never a lockout. */
const perDevice: Delay = { free: 5, minutes: 15, firstSeconds: 15 }

/** Maximum attempts of one claimant for one address that run or wait for each other. */
const maxWaiting = 50

const everybody = 'everybody'

function subjectOf(email: string): string {
  return `login\n${email.toLowerCase()}`
}

function partOf(claimant: Claimant): string {
  if (claimant.kind === 'anonymous') return `network\n${claimant.network}`
  return claimant.kind === 'device' ? `device\n${claimant.id}` : 'session'
}

interface Try {
  digest: Buffer
  at: Date
}

/**
 * Runs an attempt to prove ownership of the address if the claimant has a try left. Only an attempt that ends in INVALID_CREDENTIALS uses
 * the try up; a successful one returns all tries of that claimant. Addresses without an account are counted alike. The attempt runs in the
 * claimant's turn.
 *
 * - An anonymous client has 5 failures in 15 minutes for each address from one network. The failures of all networks for one address are
 *   counted too: past 20, each further try waits twice as long after the last one.
 * - A device that signed in before, and a session, have separate counters, so that guesses by anonymous clients do not lock them out.
 *
 * @throws API_RATE_LIMIT_EXCEEDED with Retry-After when no try is left or too many attempts of the claimant are queued; SERVICE_UNAVAILABLE
 * when too many attempts are queued in all; and what the attempt throws.
 */
export async function guarded<T>(app: App, email: string, claimant: Claimant, attempt: () => Promise<T>): Promise<T> {
  refuseIfFull(claimant)
  const party = countDigest(subjectOf(email), partOf(claimant)).toString('hex')
  return await oneByOne(party, () => inTurnOf(claimant, () => tryOnce(app, email, claimant, attempt)))
}

async function tryOnce<T>(app: App, email: string, claimant: Claimant, attempt: () => Promise<T>): Promise<T> {
  // Taken before the result is known, so that concurrent attempts cannot bypass the limit.
  const tries = await takeTries(app, email, claimant)
  let result: T
  try {
    result = await attempt()
  } catch (error) {
    await settle(app, email, claimant, tries, codeOf(error))
    throw error
  }
  await giveBack(app, email, claimant, tries)
  return result
}

/** @throws API_RATE_LIMIT_EXCEEDED when no try is left. */
async function takeTries({ pool }: App, email: string, claimant: Claimant): Promise<Try[]> {
  const own = countDigest(subjectOf(email), partOf(claimant))
  if (claimant.kind !== 'anonymous') return [takenOr(await countDelayed(pool, own, perDevice), own)]
  const mine = takenOr(await countOne(pool, own, [perNetwork]), own)
  const all = countDigest(subjectOf(email), everybody)
  const counted = await countDelayed(pool, all, perAddress)
  if (!counted.at) await uncount(pool, own, mine.at)
  return [mine, takenOr(counted, all)]
}

function takenOr(counted: Counted, digest: Buffer): Try {
  if (counted.at) return { digest, at: counted.at }
  const message = 'Too many failed sign-ins with this e-mail address; try again later'
  return failFor(counted.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', message)
}

/** Returns the try of an attempt that failed for another reason than a wrong password, because that is not the claimant's fault. */
async function settle(app: App, email: string, claimant: Claimant, tries: Try[], code: string | null): Promise<void> {
  if (code === 'INVALID_CREDENTIALS') return
  // The password was correct.
  const settled = code === 'EMAIL_NOT_VERIFIED' ? giveBack(app, email, claimant, tries) : uncountAll(app, tries)
  await settled.catch((err) => app.log.warn({ err }, 'a successful sign-in is still counted as a failed one'))
}

/** Clears all failures of the claimant, and returns the try that this attempt took from the counter of all networks. */
async function giveBack({ pool }: App, email: string, claimant: Claimant, tries: Try[]): Promise<void> {
  await forgetCounts(pool, subjectOf(email), partOf(claimant))
  for (const { digest, at } of tries.slice(1)) await uncount(pool, digest, at)
}

async function uncountAll({ pool }: App, tries: Try[]): Promise<void> {
  for (const { digest, at } of tries) await uncount(pool, digest, at)
}

interface Line {
  /** Settles with the last queued attempt. It never rejects. */
  last: Promise<unknown>
  waiting: number
}

const lines = new Map<string, Line>()

/**
 * Serializes the attempts of a claimant for an address. Otherwise concurrent attempts that will succeed would take each other's tries. This
 * works within one process; the counter in the database bounds all processes together.
 * @throws API_RATE_LIMIT_EXCEEDED when too many attempts wait.
 */
async function oneByOne<T>(party: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(party) ?? { last: Promise.resolve(), waiting: 0 }
  if (line.waiting >= maxWaiting) failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'Too many sign-ins at the same time; try again shortly')
  lines.set(party, line)
  line.waiting++
  const mine = line.last.then(work)
  line.last = mine.catch(() => {})
  try {
    return await mine
  } finally {
    line.waiting--
    if (line.waiting === 0) lines.delete(party)
  }
}

/** Clears all failures for the address. Called after a password change. */
export async function forgetTries(sql: Sql, email: string): Promise<void> {
  await forgetCounts(sql, subjectOf(email))
}
