// Ends a user: access ends at once, and so does the identity. The row stays, because messages of teams may refer to it.
import type { App } from '../core/app.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { hashOf } from './credential.ts'
import { revokeKeys } from './keys/api-keys.ts'
import { voidMailTokens } from './mail/tokens.ts'
import { guarded } from './sign-in/login-guard.ts'
import { verifyPassword } from './sign-in/password.ts'

/**
 * Checks the password of a signed-in person. Wrong ones are counted for the person, as in a password change.
 * @throws INVALID_CREDENTIALS when it is wrong; API_RATE_LIMIT_EXCEEDED when five were wrong; INVALID_STATE when there is no password.
 */
export async function checkOwnPassword(app: App, userId: string, password: string): Promise<void> {
  const user = await app.db.user.findUnique({ where: { id: userId }, select: { email: true } })
  const current = await hashOf(app.db, { id: userId })
  if (!user || !current) fail('INVALID_STATE', 'This account has no password; set one with a mail (password/forgot)')
  await guarded(app, user.email, { kind: 'session', email: user.email }, async () => {
    if (!(await verifyPassword(current, password))) fail('INVALID_CREDENTIALS', 'password: is not your password')
  })
}

/** Ends sessions, keys and credentials of a locked user, and frees the address. */
export async function endUser(tx: Tx, userId: string): Promise<void> {
  await tx.db.authSession.deleteMany({ where: { userId } })
  await tx.db.authAccount.deleteMany({ where: { userId } })
  await voidMailTokens(tx, 'sign-in', userId)
  await revokeKeys(tx, { userId })
  const identity = { email: `${userId}@deleted.invalid`, name: 'Deleted account', emailVerified: false, image: null }
  await tx.db.user.update({ where: { id: userId }, data: { ...identity, endedAt: new Date() } })
}
