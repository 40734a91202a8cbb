// Mails whose link proves ownership of an address: queued together with the token that they carry.
import type { App } from '../../core/app.ts'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { hashOf } from '../credential.ts'
import { type LockedUser, lockUnverified } from '../users.sql.ts'
import { takeNothing } from './budget.ts'
import { orderMail } from './order.ts'
import { keepMailToken, newMailToken, type Purpose } from './tokens.ts'

type Recipient = Pick<LockedUser, 'id' | 'email' | 'emailVerified'>

/** Queues a mail with a new token, in the caller's transaction. Does nothing, and stores no token, if the mail limit is reached. */
export async function orderToken(
  app: App,
  tx: Tx,
  purpose: Purpose,
  { id, email: to, emailVerified: verified }: Recipient,
): Promise<void> {
  const token = newMailToken()
  const kind = purpose === 'verify-email' ? 'verify' : 'reset'
  if ((await orderMail(app, tx, { kind, to, token, verified })) === null) await keepMailToken(tx, purpose, token, id)
}

/**
 * Queues the mail that verifies an unverified address. An account that began at an identity provider has no password, and the provider did
 * not vouch for the address: its mail sets a password.
 */
export async function orderVerification(app: App, to: string): Promise<void> {
  await transaction(app.db, async (tx) => {
    const user = await lockUnverified(tx, to)
    if (!user) return await takeNothing(tx, { kind: 'verify', to })
    const purpose = (await hashOf(tx.db, { id: user.id })) ? 'verify-email' : 'reset-password'
    await orderToken(app, tx, purpose, user)
  })
}
