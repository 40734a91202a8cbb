// Asks a person who is signed in for their password.
import type { App } from '../../core/app.ts'
import { fail } from '../../core/errors.ts'
import { hashOf } from '../credential.ts'
import { guarded } from './login-guard.ts'
import { verifyPassword } from './password.ts'

/**
 * Checks the password of a signed-in person. Wrong ones are counted for the person, apart from failed logins of others. Returns the
 * address, and the hash of the password. `fault` is the message for a wrong one.
 * @throws INVALID_CREDENTIALS when it is wrong; API_RATE_LIMIT_EXCEEDED when five were wrong and the delay is running; INVALID_STATE when
 * there is no password.
 */
export async function checkOwnPassword(
  app: App,
  userId: string,
  password: string,
  fault: string,
): Promise<{ email: string; hash: string }> {
  const { email } = await app.db.user.findUniqueOrThrow({ where: { id: userId }, select: { email: true } })
  const hash = await hashOf(app.db, { id: userId })
  if (!hash) fail('INVALID_STATE', 'This account has no password; set one with a mail (password/forgot)')
  await guarded(app, email, { kind: 'session', email }, async () => {
    if (!(await verifyPassword(hash, password))) fail('INVALID_CREDENTIALS', fault)
  })
  return { email, hash }
}
