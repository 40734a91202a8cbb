// The party that tries to prove ownership of an address. Its failures and its attempts are counted under it.
import type { FastifyRequest } from 'fastify'
import { networkOf } from '../../core/network/network.ts'
import { hashingFor } from './password.ts'
import { type Asker, createTurns } from './turns.ts'

export type Claimant =
  /** An anonymous client, known only by its network. */
  | { kind: 'stranger'; network: string }
  /** A device that signed in to the account before. */
  | { kind: 'device'; id: string; email: string }
  /** A person who is signed in to the account. */
  | { kind: 'session'; email: string }

export function strangerOf({ ip }: Pick<FastifyRequest, 'ip'>): Claimant & { kind: 'stranger' } {
  return { kind: 'stranger', network: networkOf(ip) }
}

/**
 * Fair queue for the attempts of this process. Each attempt holds a database connection most of the time: a flood from one network takes
 * three of the ten connections. Fifty queued requests are an office that signs in at nine.
 */
const turns = createTurns<'strangers' | 'known'>(6, {
  strangers: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  known: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
})

/**
 * Known devices and sessions share the turns of their account, strangers share those of their network. So a flood of strangers takes no
 * turns of an account, and many devices give an account no more than one share.
 */
function askerOf(claimant: Claimant): Asker<'strangers' | 'known'> {
  if (claimant.kind === 'stranger') return { queue: 'strangers', party: claimant.network }
  return { queue: 'known', party: claimant.email.toLowerCase() }
}

/**
 * Runs the work in the claimant's turn.
 * @throws API_RATE_LIMIT_EXCEEDED when the claimant has too many queued requests; SERVICE_UNAVAILABLE when too many are queued in all.
 */
export async function inTurnOf<T>(claimant: Claimant, work: () => Promise<T>): Promise<T> {
  const asker = askerOf(claimant)
  return await turns.take(asker, () => hashingFor(asker, work))
}

/** Rejects a claimant with too many queued requests, before any work is done. @throws API_RATE_LIMIT_EXCEEDED when its queue is full. */
export function refuseCrowd(claimant: Claimant): void {
  turns.refuseIfFull(askerOf(claimant))
}
