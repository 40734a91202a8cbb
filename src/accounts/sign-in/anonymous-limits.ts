// Rate limits for anonymous requests that write mail or rows: per network and per address.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { failFor } from '../../core/errors.ts'
import type { Bound } from '../counts.sql.ts'
import { countDigest, countOne } from '../counts.ts'
import { type Claimant, inTurnOf, refuseIfFull } from './claimant.ts'

/** More than an office behind one IP address needs. Each kind of request has a separate counter. */
const perNetwork: Bound = { most: 300, minutes: 60 }

/** Above the mail limits of an address (src/accounts/mail/budget.ts), and equal for addresses with and without an account. */
const perAddress: Bound = { most: 30, minutes: 60 }

type Anonymous = Claimant & { kind: 'anonymous' }

/**
 * Counts a request of that kind for its network and for the address that is to get a mail, across all processes. Known and unknown
 * addresses are counted alike, before any lookup.
 * @throws API_RATE_LIMIT_EXCEEDED with Retry-After when the network or the address is over its limit.
 */
export async function countRequest(app: App, { network }: Anonymous, kind: string, to?: string): Promise<void> {
  const ofNetwork = await countOne(app.pool, countDigest(`${kind}\nnetwork\n${network}`), [perNetwork])
  if (!ofNetwork.at)
    failFor(ofNetwork.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', 'Too many of these requests from this network; try again later')
  if (to === undefined) return
  const ofAddress = await countOne(app.pool, countDigest(`${kind}\naddress\n${to.toLowerCase()}`), [perAddress])
  if (!ofAddress.at)
    failFor(ofAddress.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', 'Too many of these requests for this address; try again later')
}

/** Longer than these routes take on a machine that is not overloaded. */
const answerMs = 250

/**
 * Counts an anonymous request for that address, and runs the work in the network's turn. From then on every response takes the same minimum
 * time, so that the time does not reveal if the address is known. Rejections come before any lookup.
 * @throws API_RATE_LIMIT_EXCEEDED when a limit is reached or too many requests of the network are queued; SERVICE_UNAVAILABLE when too many
 * requests are queued in all; and what the work throws.
 */
export async function answerInEqualTime(
  app: App,
  client: Anonymous,
  { kind, to }: { kind: string; to: string },
  work: () => Promise<void>,
): Promise<void> {
  refuseIfFull(client)
  let waited: Promise<unknown> | undefined
  const done = inTurnOf(client, async () => {
    await countRequest(app, client, kind, to)
    waited = pause(answerMs)
    await work()
  })
  try {
    await done
  } finally {
    await waited
  }
}
