// How many mails a mailbox gets: a bound for each kind, whoever asks for them, counted over all processes.
import { createHash } from 'node:crypto'
import type { Sql } from '../../core/database/database.ts'
import { type Bound, countOne } from '../counts.ts'
import { mailboxOf } from '../email.ts'
import type { MailOrder } from './texts.ts'

const perHour: Bound = { most: 5, minutes: 60 }
const perDay: Bound = { most: 20, minutes: 24 * 60 }

/**
 * Whoever is past a bound has as many working links in the mailbox already. Those of a reset hold no longer than the hour, so it
 * has no bound of the day: who used that up for somebody else would lock them out.
 */
const budgets: Record<MailOrder['kind'], readonly Bound[]> = {
  verify: [perHour, perDay],
  known: [perHour, perDay],
  reset: [perHour],
  // From all teams together; what one owner's teams send is bounded where they invite.
  invitation: [{ most: 10, minutes: 60 }, perDay],
}

type Addressed = Pick<MailOrder, 'kind' | 'to'>

/** Kept where failed logins are, under digests of their own. */
function digestOf({ kind, to }: Addressed, what: 'mail' | 'no mail' = 'mail'): Buffer {
  return createHash('sha256')
    .update(`${what}\n${kind}\n${mailboxOf(to)}`)
    .digest()
}

/**
 * Takes one of the address's mails of that kind, in the caller's transaction, whose last lock it is. Null where it may be sent, else the
 * seconds until the next may.
 */
export async function takeMail(tx: Sql, order: MailOrder): Promise<number | null> {
  const counted = await countOne(tx, digestOf(order), budgets[order.kind])
  return counted.at ? null : counted.waitSeconds
}

/**
 * What {@link takeMail} is for an address where nobody is to be written to. Many who ask at once wait for each other there, and have to here
 * too, or how long they wait would tell who has an account. It takes none of the mails of whoever comes to have the address.
 */
export async function takeNothing(tx: Sql, order: Addressed): Promise<void> {
  await countOne(tx, digestOf(order, 'no mail'), budgets[order.kind])
}
