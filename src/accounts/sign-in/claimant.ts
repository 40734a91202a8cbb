// The party that tries to prove ownership of an address. Its failures and its attempts are counted under it.
import type { FastifyRequest } from 'fastify'
import { networkOf } from '../../core/network/network.ts'
import { hashingFor } from './password.ts'
import { createTurns, type Requester } from './turns.ts'

export type Claimant =
  /** An anonymous client, known only by its network. */
  | { kind: 'anonymous'; network: string }
  /** A device that signed in to the account before. */
  | { kind: 'device'; id: string; email: string }
  /** A person who is signed in to the account. */
  | { kind: 'session'; email: string }

export function anonymousOf({ ip }: Pick<FastifyRequest, 'ip'>): Claimant & { kind: 'anonymous' } {
  return { kind: 'anonymous', network: networkOf(ip) }
}

/**
 * Fair queue for the attempts of this process. Each attempt holds a database connection most of the time: a flood from one network takes
 * three of the ten connections. Fifty queued requests are an office that signs in at nine.
 */
const turns = createTurns<'anonymous' | 'known'>(6, {
  anonymous: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  known: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
})

/**
 * Known devices and sessions share the turns of their account, anonymous clients share those of their network. So a flood of anonymous
 * clients takes no turns of an account, and many devices give an account no more than one share.
 */
function requesterOf(claimant: Claimant): Requester<'anonymous' | 'known'> {
  if (claimant.kind === 'anonymous') return { queue: 'anonymous', party: claimant.network }
  return { queue: 'known', party: claimant.email.toLowerCase() }
}

/**
 * Runs the work in the claimant's turn.
 * @throws API_RATE_LIMIT_EXCEEDED when the claimant has too many queued requests; SERVICE_UNAVAILABLE when too many are queued in all.
 */
export async function inTurnOf<T>(claimant: Claimant, work: () => Promise<T>): Promise<T> {
  const requester = requesterOf(claimant)
  return await turns.take(requester, () => hashingFor(requester, work))
}

/** Rejects a claimant with too many queued requests, before any work is done. @throws API_RATE_LIMIT_EXCEEDED when its queue is full. */
export function refuseIfFull(claimant: Claimant): void {
  turns.refuseIfFull(requesterOf(claimant))
}
