// Mails whose link proves an address: ordered together with the token that they carry.
import type { App } from '../../core/app.ts'
import { type Sql, transaction } from '../../core/database/database.ts'
import { takeNothing } from './budget.ts'
import { orderMail } from './order.ts'
import { keepMailToken, newMailToken, type Purpose } from './tokens.ts'

/** A mail with a new token, in the caller's transaction; false where the address has had its mails: then there is no token. */
export async function orderToken(app: App, tx: Sql, purpose: Purpose, to: string, userId: string): Promise<boolean> {
  const token = newMailToken()
  const kind = purpose === 'verify-email' ? 'verify' : 'reset'
  if ((await orderMail(app, tx, { kind, to, token })) !== null) return false
  await keepMailToken(tx, purpose, token, userId)
  return true
}

/**
 * Orders the mail by which an address that is not proved yet is proved. An account that began at an identity provider has no
 * password, and the provider did not vouch for the address: its mail sets a password.
 */
export async function orderVerification(app: App, to: string): Promise<void> {
  await transaction(app.pool, async (tx) => {
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
