// Slows guessing down, counted over all processes, without letting guesses of others lock the owner of an address out.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { codeOf, failFor } from '../../core/errors.ts'
import { type Bound, type Counted, countDelayed, countDigest, countOne, type Delay, forgetCounts, uncount } from '../counts.ts'
import { type Claimant, inTurnOf, refuseCrowd } from './claimant.ts'

/** Failures for one address from one network. */
const perNetwork: Bound = { most: 5, minutes: 15 }

/** Failures for one address from all networks of strangers together: four times as many are free. */
const perAddress: Delay = { free: 20, minutes: 15, firstSeconds: 15 }

/** Failures of one known device, or of somebody who is signed in: a delay that grows, never a lock. */
const perDevice: Delay = { free: 5, minutes: 15, firstSeconds: 15 }

/** Attempts of one party for one address that wait for each other. */
const maxWaiting = 50

const everybody = 'everybody'

function subjectOf(email: string): string {
  return `login\n${email.toLowerCase()}`
}

function partOf(claimant: Claimant): string {
  if (claimant.kind === 'stranger') return `network\n${claimant.network}`
  return claimant.kind === 'device' ? `device\n${claimant.id}` : 'session'
}

interface Try {
  digest: Buffer
  at: Date
}

/**
 * Runs an attempt to prove who has the address, where the claimant has a try left. Only an attempt that ends in
 * INVALID_CREDENTIALS costs the try; one that goes well gives all tries of that claimant back. Addresses without an account are
 * counted alike. The attempt waits for its turn among those of the claimant.
 *
 * - A stranger has 5 failures in 15 minutes for each address from one network. The failures of all networks for one address are
 *   counted too: past 20, each further try waits twice as long after the last one.
 * - A device that signed in before, and a session, are counted for themselves, so that no stranger's guesses keep them out.
 *
 * @throws API_RATE_LIMIT_EXCEEDED with Retry-After, SERVICE_UNAVAILABLE, and what the attempt throws.
 */
export async function guarded<T>(app: App, email: string, claimant: Claimant, attempt: () => Promise<T>): Promise<T> {
  refuseCrowd(claimant)
  const party = countDigest(subjectOf(email), partOf(claimant)).toString('hex')
  return await oneByOne(party, () => inTurnOf(claimant, () => tryOnce(app, email, claimant, attempt)))
}

async function tryOnce<T>(app: App, email: string, claimant: Claimant, attempt: () => Promise<T>): Promise<T> {
  // Taken before it is known to fail, so that many at once are no way round.
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

/** @throws API_RATE_LIMIT_EXCEEDED. */
async function takeTries({ pool }: App, email: string, claimant: Claimant): Promise<Try[]> {
  const own = countDigest(subjectOf(email), partOf(claimant))
  if (claimant.kind !== 'stranger') return [takenOr(await countDelayed(pool, own, perDevice), own)]
  const mine = takenOr(await countOne(pool, own, [perNetwork]), own)
  const all = countDigest(subjectOf(email), everybody)
  const counted = await countDelayed(pool, all, perAddress)
  if (!counted.at) await uncount(pool, own, mine.at)
  return [mine, takenOr(counted, all)]
}

function takenOr(counted: Counted, digest: Buffer): Try {
  if (counted.at) return { digest, at: counted.at }
  const message = 'Too many failed logins with this e-mail address; try again later'
  return failFor(counted.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', message)
}

/** The tries were taken before they were known to fail; any other fault than a wrong password is not the claimant's. */
async function settle(app: App, email: string, claimant: Claimant, tries: Try[], code: string | null): Promise<void> {
  if (code === 'INVALID_CREDENTIALS') return
  // The password was right.
  const settled = code === 'EMAIL_NOT_VERIFIED' ? giveBack(app, email, claimant, tries) : uncountAll(app, tries)
  await settled.catch((err) => app.log.warn({ err }, 'a login that did not fail is counted as one that did'))
}

/** All failures of the claimant, and what this attempt took of everybody's. */
async function giveBack({ pool }: App, email: string, claimant: Claimant, tries: Try[]): Promise<void> {
  await forgetCounts(pool, subjectOf(email), partOf(claimant))
  for (const { digest, at } of tries.slice(1)) await uncount(pool, digest, at)
}

async function uncountAll({ pool }: App, tries: Try[]): Promise<void> {
  for (const { digest, at } of tries) await uncount(pool, digest, at)
}

interface Line {
  /** The last attempt; it never rejects. */
  last: Promise<unknown>
  waiting: number
}

const lines = new Map<string, Line>()

/**
 * One attempt of a party for an address after the other, or those that are about to go well would take each other's tries. That
 * holds in one process; the count in the database is the bound of them all. @throws API_RATE_LIMIT_EXCEEDED.
 */
async function oneByOne<T>(party: string, work: () => Promise<T>): Promise<T> {
  const line = lines.get(party) ?? { last: Promise.resolve(), waiting: 0 }
  if (line.waiting >= maxWaiting) failFor(1, 'API_RATE_LIMIT_EXCEEDED', 'Too many logins at once; try again shortly')
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

/** After another password. */
export async function forgetTries(sql: Sql, email: string): Promise<void> {
  await forgetCounts(sql, subjectOf(email))
}
