// Mails whose link proves ownership of an address: queued together with the token that they carry.
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { takeNothing } from './budget.ts'
import { orderMail } from './order.ts'
import { keepMailToken, newMailToken, type Purpose } from './tokens.ts'

/** Queues a mail with a new token, in the caller's transaction. Returns false, and stores no token, if the mail limit is reached. */
export async function orderToken(app: App, tx: Sql, purpose: Purpose, to: string, userId: string): Promise<boolean> {
  const token = newMailToken()
  const kind = purpose === 'verify-email' ? 'verify' : 'reset'
  if ((await orderMail(app, tx, { kind, to, token })) !== null) return false
  await keepMailToken(tx, purpose, token, userId)
  return true
}

/**
 * Queues the mail that verifies an unverified address. An account that began at an identity provider has no password, and the provider did
 * not vouch for the address: its mail sets a password.
 */
export async function orderVerification(app: App, to: string): Promise<void> {
  await sqlTransaction(app.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string; hasPassword: boolean }>(
      `select id, exists (
          select from auth_accounts a where a."userId" = users.id and a."providerId" = 'credential'
        ) as "hasPassword" from users where email = $1 and not "emailVerified" for no key update`,
      [to],
    )
    if (!rows[0]) return await takeNothing(tx, { kind: 'verify', to })
    await orderToken(app, tx, rows[0].hasPassword ? 'verify-email' : 'reset-password', to, rows[0].id)
  })
}
