// Password reset: a mail with a one-time token, and a new password for that token.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { parse } from '../../core/validation.ts'
import { email } from '../email.ts'
import { mailToken, password } from '../fields.ts'
import { takeNothing } from '../mail/budget.ts'
import { orderToken } from '../mail/token-mail.ts'
import { ownerOfMailToken, takeMailToken } from '../mail/tokens.ts'
import { lockUser, lockUserOf } from '../users.sql.ts'
import { answerInEqualTime } from './anonymous-limits.ts'
import { anonymousOf, inTurnOf } from './claimant.ts'
import { hashPassword } from './password.ts'
import { proveAddress } from './prove-address.ts'
import { replacePassword } from './replace-password.ts'

export const forgotBody = z
  .object({ email: email.describe('The e-mail address of the account.') })
  .describe('The recipient of the mail.')
export const resetBody = z
  .object({ token: mailToken, password: password.describe('The new password, 10 to 128 characters.') })
  .describe('A new password, with the token of a mail.')

/**
 * Sends a mail if somebody has an account with the address. The response is the same for every address.
 * @throws VALIDATION_ERROR when the body is invalid; API_RATE_LIMIT_EXCEEDED when the network or the address is over its limit.
 */
export async function forgotPassword(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const { email: to } = parse(forgotBody, request.body)
  await answerInEqualTime(app, anonymousOf(request), { kind: 'forgot', to }, () => orderReset(app, to))
  return { accepted: true }
}

async function orderReset(app: App, to: string): Promise<void> {
  await transaction(app.db, async (tx) => {
    const user = await lockUserOf(tx, to)
    if (user) await orderToken(app, tx, 'reset-password', user)
    else await takeNothing(tx, { kind: 'reset', to })
  })
}

/**
 * Sets the password. The reader of the mail has proved ownership of the address, so everything that others may have created with the
 * account is revoked: see `proveAddress`.
 * @throws INVALID_TOKEN when the token is wrong, expired or used; API_RATE_LIMIT_EXCEEDED when too many requests of the network are queued;
 * SERVICE_UNAVAILABLE when too many requests are queued in all.
 */
export async function resetPassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { token, password: newPassword } = parse(resetBody, request.body)
  // Rejects an invalid token before the expensive hash.
  const userId = (await ownerOfMailToken(app.db, 'reset-password', token)) ?? fail('INVALID_TOKEN')
  const hash = await inTurnOf(anonymousOf(request), () => hashPassword(newPassword))
  await transaction(app.db, async (tx) => {
    const { email } = (await lockUser(tx, userId)) ?? fail('INVALID_TOKEN')
    if (!(await takeMailToken(tx, 'reset-password', token))) fail('INVALID_TOKEN')
    await replacePassword(tx, { userId, email, hash })
    await proveAddress(tx, userId, app.hooks.revokeInvitations)
  })
  return { changed: true }
}
