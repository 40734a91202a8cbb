// Rate limits for mail per recipient and kind of mail, whoever requests it, counted across all processes.
import { createHash } from 'node:crypto'
import type { Sql } from '../../core/database/database.ts'
import type { Bound } from '../counts.sql.ts'
import { countOne } from '../counts.ts'
import { mailboxOf } from '../email.ts'
import type { MailOrder } from './texts.ts'

const perHour: Bound = { most: 5, minutes: 60 }
const perDay: Bound = { most: 20, minutes: 24 * 60 }

/**
 * Somebody past a bound already has as many working links in the mailbox. Reset links expire after one hour, so `reset` has no daily bound:
 * an attacker who used up a daily bound would lock the owner out.
 */
const budgets: Record<MailOrder['kind'], readonly Bound[]> = {
  verify: [perHour, perDay],
  known: [perHour, perDay],
  reset: [perHour],
  // A plan falls when a person or an operator changes it.
  rests: [{ most: 100, minutes: 24 * 60 }],
  // Across all teams. src/teams/invitation-budget.ts bounds what the teams of one owner send.
  invitation: [{ most: 10, minutes: 60 }, perDay],
}

type Addressed = Pick<MailOrder, 'kind' | 'to'> & { verified?: boolean }

/**
 * The recipient that a mail is counted for. Anybody can sign up with many tags of a mailbox (`name+tag@`) and request links for these accounts.
 * They must not use up the mails of another account in that mailbox, so the address without a tag and each verified address are counted alone. All
 * other tags are counted together: the mailbox is that of one person at most providers.
 */
function recipientOf({ kind, to, verified = kind === 'known' }: Addressed): string {
  const [address, mailbox] = [to.toLowerCase(), mailboxOf(to)]
  if (kind === 'invitation' || kind === 'rests') return mailbox
  return verified || address === mailbox ? address : `tags of ${mailbox}`
}

/** Stored in the table of failed logins (`email_counts`), under separate digests. */
function digestOf(mail: Addressed, what: 'mail' | 'no mail' = 'mail'): Buffer {
  return createHash('sha256')
    .update(`${what}\n${mail.kind}\n${recipientOf(mail)}`)
    .digest()
}

/**
 * Counts one mail of that kind for the address, in the caller's transaction. Its row lock must be the last lock that the transaction waits
 * for. Returns null if the mail may be sent, else the seconds until the next one may be sent.
 */
export async function takeMail(tx: Sql, order: MailOrder): Promise<number | null> {
  const counted = await countOne(tx, digestOf(order), budgets[order.kind])
  return counted.at ? null : counted.waitSeconds
}

/**
 * Counterpart of {@link takeMail} for an address that gets no mail. Concurrent requests for one address wait there for the row lock of the
 * counter. They must wait here too, or the response time would reveal which addresses have an account. The counter is a separate one, so it
 * uses up no mail of somebody who gets an account with that address later.
 */
export async function takeNothing(tx: Sql, order: Addressed): Promise<void> {
  await countOne(tx, digestOf(order, 'no mail'), budgets[order.kind])
}
