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
import { callerOf } from './auth-call.ts'
import { inTurnOf } from './claimant.ts'
import { checkOwnPassword } from './own-password.ts'
import { hashPassword } from './password.ts'
import { replacePassword } from './replace-password.ts'

export const changeBody = z
  .object({
    currentPassword: text(1, 128).describe('The current password.'),
    newPassword: password.describe('The new password, 10 to 128 characters.'),
  })
  .describe('A password change.')

/**
 * Ends every session except the caller's.
 * @throws as {@link checkOwnPassword}; CONFLICT when the password was changed in the meantime; UNAUTHORIZED when the token is invalid.
 */
export async function changePassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { userId, sessionId } = await callerOf(app, request)
  const { currentPassword, newPassword } = parse(changeBody, request.body)
  const fault = 'currentPassword: is not the current password'
  const { email, hash: current } = await checkOwnPassword(app, userId, currentPassword, fault)
  const hash = await inTurnOf({ kind: 'session', email }, () => hashPassword(newPassword))
  await transaction(app.db, async (tx) => {
    await lockUser(tx, userId)
    if ((await hashOf(tx.db, { id: userId })) !== current)
      fail('CONFLICT', 'The password was changed by another request at the same time')
    await replacePassword(tx, { userId, email, hash, keepSessionId: sessionId })
  })
  return { changed: true }
}
