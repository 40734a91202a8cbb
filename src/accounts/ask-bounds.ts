// How often anybody may ask for what writes mail or rows without having said who they are: per network and per address.
import type { App } from '../core/app.ts'
import { failFor } from '../core/errors.ts'
import type { Claimant } from './claimant.ts'
import { type Bound, countDigest, countOne } from './counts.ts'

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
