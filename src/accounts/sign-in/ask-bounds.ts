// How often anybody may ask for what writes mail or rows without having said who they are: per network and per address.
import { setTimeout as pause } from 'node:timers/promises'
import type { App } from '../../core/app.ts'
import { failFor } from '../../core/errors.ts'
import { type Bound, countDigest, countOne } from '../counts.ts'
import { type Claimant, inTurnOf, refuseCrowd } from './claimant.ts'

/** More than an office behind one address asks for, each kind for itself. */
const perNetwork: Bound = { most: 300, minutes: 60 }

/** Past the mails that an address gets (mail-budget.ts), whether anybody has it or not. */
const perAddress: Bound = { most: 30, minutes: 60 }

type Stranger = Claimant & { kind: 'stranger' }

/**
 * Counts a request of that kind, from its network and for the address that is to be written to, over all processes. Known and
 * unknown addresses are counted alike, before anything is looked up. @throws API_RATE_LIMIT_EXCEEDED with Retry-After.
 */
export async function countAsk(app: App, { network }: Stranger, kind: string, to?: string): Promise<void> {
  const ofNetwork = await countOne(app.pool, countDigest(`${kind}\nnetwork\n${network}`), [perNetwork])
  if (!ofNetwork.at)
    failFor(ofNetwork.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', 'Too many of these requests from this network; try again later')
  if (to === undefined) return
  const ofAddress = await countOne(app.pool, countDigest(`${kind}\naddress\n${to.toLowerCase()}`), [perAddress])
  if (!ofAddress.at)
    failFor(ofAddress.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', 'Too many of these requests for this address; try again later')
}

/** Longer than the work of these routes takes on a machine that is not overrun. */
const answerMs = 250

/**
 * Counts a request of a stranger for that address, and does the work when it is the stranger's turn. From then on everybody waits for
 * the same time at least, so that the time does not tell whether the address is known. A refusal comes before anything is looked up.
 * @throws API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE where too many wait, and what the work throws.
 */
export async function answerAlike(
  app: App,
  stranger: Stranger,
  { kind, to }: { kind: string; to: string },
  work: () => Promise<void>,
): Promise<void> {
  refuseCrowd(stranger)
  let waited: Promise<unknown> | undefined
  const done = inTurnOf(stranger, async () => {
    await countAsk(app, stranger, kind, to)
    waited = pause(answerMs)
    await work()
  })
  try {
    await done
  } finally {
    await waited
  }
}
