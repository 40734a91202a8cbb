// The party that tries to prove to be the owner of an address: what its failures and its attempts are counted by.
import type { FastifyRequest } from 'fastify'
import { networkOf } from '../../core/network/network.ts'
import { hashingFor } from './password.ts'
import { type Asker, createTurns } from './turns.ts'

export type Claimant =
  /** A client of whom nothing is known but its network. */
  | { kind: 'stranger'; network: string }
  /** A device that signed in to the account before. */
  | { kind: 'device'; id: string; email: string }
  /** A person who is signed in to the account. */
  | { kind: 'session'; email: string }

export function strangerOf({ ip }: Pick<FastifyRequest, 'ip'>): Claimant & { kind: 'stranger' } {
  return { kind: 'stranger', network: networkOf(ip) }
}

/**
 * Attempts of this process that are under way, each with a connection to the database most of the time: a flood by one network takes
 * three of the ten connections. Fifty that wait are an office that signs in at nine.
 */
const turns = createTurns<'strangers' | 'known'>(6, {
  strangers: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
  known: { running: 3, waiting: 50, inAll: 200, full: 'API_RATE_LIMIT_EXCEEDED' },
})

/**
 * Known devices and sessions share the turns of their account, strangers those of their network: no flood of strangers takes
 * turns of an account, and no number of devices gives an account more than one share.
 */
function askerOf(claimant: Claimant): Asker<'strangers' | 'known'> {
  if (claimant.kind === 'stranger') return { queue: 'strangers', party: claimant.network }
  return { queue: 'known', party: claimant.email.toLowerCase() }
}

/** Runs what a claimant asks for when it is its turn. @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE where too many wait. */
export async function inTurnOf<T>(claimant: Claimant, work: () => Promise<T>): Promise<T> {
  const asker = askerOf(claimant)
  return await turns.take(asker, () => hashingFor(asker, work))
}

/** Refuses a claimant of whom too many requests wait already, before anything is done. @throws API_RATE_LIMIT_EXCEEDED. */
export function refuseCrowd(claimant: Claimant): void {
  turns.refuseIfFull(askerOf(claimant))
}
