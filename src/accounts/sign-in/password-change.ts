// Changes a password, given the current one.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { parse, text } from '../../core/validation.ts'
import { hashOf } from '../credential.ts'
import { password } from '../fields.ts'
import { lockUser } from '../users.sql.ts'
import { callerOf, refuseToken } from './auth-call.ts'
import { inTurnOf } from './claimant.ts'
import { guarded } from './login-guard.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { replacePassword } from './replace-password.ts'

export const changeBody = z
  .object({
    currentPassword: text(1, 128).describe('The current password.'),
    newPassword: password.describe('The new password, 10 to 128 characters.'),
  })
  .describe('A password change.')

/**
 * Ends every session except the caller's. Wrong current passwords are counted for the person, apart from failed logins of others.
 * @throws INVALID_CREDENTIALS when the current password is wrong; API_RATE_LIMIT_EXCEEDED when five were wrong and the delay is running;
 * INVALID_STATE when there is no password; CONFLICT when it was changed in the meantime; UNAUTHORIZED when the token is invalid.
 */
export async function changePassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { userId, sessionId } = await callerOf(app, request)
  const { currentPassword, newPassword } = parse(changeBody, request.body)
  const user = await app.db.user.findUnique({ where: { id: userId }, select: { email: true } })
  const { email } = user ?? refuseToken()
  const current = await hashOf(app.db, { id: userId })
  if (!current) fail('INVALID_STATE', 'This account has no password; set one with a mail (password/forgot)')
  const claimant = { kind: 'session', email } as const
  await guarded(app, email, claimant, async () => {
    if (!(await verifyPassword(current, currentPassword)))
      fail('INVALID_CREDENTIALS', 'currentPassword: is not the current password')
  })
  const hash = await inTurnOf(claimant, () => hashPassword(newPassword))
  await transaction(app.db, async (tx) => {
    await lockUser(tx, userId)
    if ((await hashOf(tx.db, { id: userId })) !== current)
      fail('CONFLICT', 'The password was changed by another request at the same time')
    await replacePassword(tx, { userId, email, hash, keepSessionId: sessionId })
  })
  return { changed: true }
}
