// Rate limits for invitations, because they make the gateway send mail to strangers.
import { createHash } from 'node:crypto'
import type { Bound } from '../accounts/counts.sql.ts'
import { countOne } from '../accounts/counts.ts'
import { mailboxOf } from '../accounts/email.ts'
import { addressOfSession } from '../accounts/find-user.ts'
import type { Tx } from '../core/database/transaction.ts'
import { failFor } from '../core/errors.ts'
import { isReachable } from '../core/network/address.ts'
import { networkOf } from '../core/network/network.ts'
import type { LockedTeam } from './lock.sql.ts'

const hour = (most: number): Bound => ({ most, minutes: 60 })
const day = (most: number): Bound => ({ most, minutes: 24 * 60 })

/**
 * A team of 8 seats that is filled, and refilled a few times, reaches none of these bounds; neither does an owner of 4 such teams. `owner`
 * bounds the one subscription behind several teams, which can be deleted and created again. `address` bounds what the teams of one owner
 * send to one stranger; src/accounts/mail/budget.ts bounds what all owners together send there.
 */
const bounds = {
  address: [hour(5), day(8)],
  inviter: [hour(50), day(120)],
  team: [hour(40), day(100)],
  owner: [hour(100), day(240)],
  network: [hour(100), day(300)],
} as const

const refusals: Record<keyof typeof bounds, (email: string) => string> = {
  address: (email) => `${email} has received too many invitations; try again later`,
  inviter: () => 'You have sent too many invitations; try again later',
  team: () => 'The team has sent too many invitations; try again later',
  owner: () => 'The teams of this owner have sent too many invitations; try again later',
  network: () => 'Too many invitations were sent from this network; try again later',
}

export interface Invitation {
  team: LockedTeam
  email: string
  inviterId: string
  /** The session of the inviter; null if an operator invites. */
  sessionId: string | null
}

/**
 * Counts one more invitation against every bound, in the caller's transaction. The counters are durable, and stay when the invitation is
 * withdrawn or its team deleted. They are locked in a fixed order, which prevents deadlocks.
 * @throws API_RATE_LIMIT_EXCEEDED with the seconds until the next invitation when a bound is reached.
 */
export async function takeInvitation(tx: Tx, { team, email, inviterId, sessionId }: Invitation): Promise<void> {
  const network = sessionId && (await networkOfSession(tx, sessionId))
  const counted = {
    address: `${team.ownerId} ${mailboxOf(email)}`,
    inviter: inviterId,
    team: team.id,
    owner: team.ownerId,
    network,
  }
  for (const kind of Object.keys(bounds) as (keyof typeof bounds)[]) {
    const name = counted[kind]
    if (name === null) continue
    const taken = await countOne(tx, digestOf(kind, name), bounds[kind])
    if (!taken.at) failFor(taken.waitSeconds, 'API_RATE_LIMIT_EXCEEDED', refusals[kind](email))
  }
}

function digestOf(kind: string, name: string): Buffer {
  return createHash('sha256').update(`invitation by ${kind}\n${name}`).digest()
}

/**
 * Returns the network that a session began from. Returns null for a private address, which belongs to a proxy or to the operator and stands
 * for everybody behind it.
 */
async function networkOfSession(tx: Tx, sessionId: string): Promise<string | null> {
  const address = await addressOfSession(tx.db, sessionId)
  return address && isReachable(address, []) ? networkOf(address) : null
}
