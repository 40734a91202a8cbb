// A forgotten password: a mail with a token that works once, and another password for it.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { transaction } from '../../core/database/database.ts'
import { fail } from '../../core/errors.ts'
import { parse } from '../../core/validation.ts'
import { email } from '../email.ts'
import { mailToken, password } from '../fields.ts'
import { takeNothing } from '../mail/budget.ts'
import { orderToken } from '../mail/token-mail.ts'
import { ownerOfMailToken, takeMailToken } from '../mail/tokens.ts'
import { answerAlike } from './ask-bounds.ts'
import { inTurnOf, strangerOf } from './claimant.ts'
import { hashPassword } from './password.ts'
import { proveAddress } from './prove-address.ts'
import { lockUser, replacePassword } from './replace-password.ts'

export const forgotBody = z.object({ email: email.describe('Whose password it is.') }).describe('Whom to write to.')
export const resetBody = z
  .object({ token: mailToken, password: password.describe('The new one, 10 to 128 characters.') })
  .describe('A new password for the token of a mail.')

/**
 * Sends a mail to whoever has an account with the address. Answers alike whether anybody has.
 * @throws VALIDATION_ERROR, API_RATE_LIMIT_EXCEEDED.
 */
export async function forgotPassword(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const { email: to } = parse(forgotBody, request.body)
  await answerAlike(app, strangerOf(request), { kind: 'forgot', to }, () => orderReset(app, to))
  return { accepted: true }
}

async function orderReset(app: App, to: string): Promise<void> {
  await transaction(app.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>('select id from users where email = $1', [to])
    if (rows[0]) await orderToken(app, tx, 'reset-password', to, rows[0].id)
    else await takeNothing(tx, { kind: 'reset', to })
  })
}

/**
 * Sets the password. Whoever reads the mail of an address has proved to have it, so all that others may have made with the account
 * ends: see `proveAddress`.
 * @throws INVALID_TOKEN for one that is wrong, old or used; API_RATE_LIMIT_EXCEEDED, SERVICE_UNAVAILABLE.
 */
export async function resetPassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { token, password: newPassword } = parse(resetBody, request.body)
  // Nothing is hashed for a token that is none.
  const userId = (await ownerOfMailToken(app.pool, 'reset-password', token)) ?? fail('INVALID_TOKEN')
  const hash = await inTurnOf(strangerOf(request), () => hashPassword(newPassword))
  await transaction(app.pool, async (tx) => {
    const { email } = (await lockUser(tx, userId)) ?? fail('INVALID_TOKEN')
    if (!(await takeMailToken(tx, 'reset-password', token))) fail('INVALID_TOKEN')
    await replacePassword(tx, { userId, email, hash })
    await proveAddress(tx, userId, app.revokeInvitations)
  })
  return { changed: true }
}
