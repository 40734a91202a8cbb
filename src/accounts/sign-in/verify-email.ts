// Verifies an e-mail address with the token of a mail, and sends that mail again on request.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { parse, text } from '../../core/validation.ts'
import { hashOf } from '../credential.ts'
import { email } from '../email.ts'
import { mailToken } from '../fields.ts'
import { orderVerification } from '../mail/token-mail.ts'
import { ownerOfMailToken, takeMailToken } from '../mail/tokens.ts'
import { lockUser } from '../users.sql.ts'
import { answerInEqualTime } from './anonymous-limits.ts'
import { anonymousOf, inTurnOf } from './claimant.ts'
import { verifyPassword } from './password.ts'
import { proveAddress } from './prove-address.ts'

export const verifyBody = z
  .object({
    token: mailToken,
    password: text(1, 128)
      .optional()
      .describe('The password of the sign-up, if the page asks for it. It protects against links of sign-ups by others.'),
  })
  .describe('The token of the mail.')
export const emailBody = z.object({ email: email.describe('The e-mail address of the account.') }).describe('An address.')

/**
 * Verifies the address with a one-time token that belongs to one sign-up; a later, different sign-up makes it void. From then on the
 * password of that sign-up signs in.
 *
 * The token alone suffices, so that every console and program can verify. The risk: a person who follows the link of another person's
 * sign-up gives that person an account with their address, until they reset the password. The reset revokes all that was created in it.
 * A caller that also sends the password closes that gap; our own page does.
 * @throws INVALID_TOKEN when the token is wrong, expired, used or void; INVALID_CREDENTIALS when a password is sent that is not the one of
 * the sign-up. The token stays valid then.
 */
export async function verifyEmail(app: App, request: FastifyRequest): Promise<{ verified: true }> {
  const { token, password } = parse(verifyBody, request.body)
  const userId = (await ownerOfMailToken(app.db, 'verify-email', token)) ?? fail('INVALID_TOKEN')
  if (password !== undefined) await checkPassword(app, request, userId, password)
  await transaction(app.db, async (tx) => {
    if (!(await lockUser(tx, userId)) || !(await takeMailToken(tx, 'verify-email', token))) fail('INVALID_TOKEN')
    await proveAddress(tx, userId, app.hooks.revokeInvitations)
  })
  return { verified: true }
}

async function checkPassword(app: App, request: FastifyRequest, userId: string, password: string): Promise<void> {
  const hash = (await hashOf(app.db, { id: userId })) ?? ''
  if (await inTurnOf(anonymousOf(request), () => verifyPassword(hash, password))) return
  fail('INVALID_CREDENTIALS', 'password: is not the password of the sign-up that this mail belongs to')
}

/**
 * Sends the mail again if the address has an unverified account. The response is the same for every address.
 * @throws API_RATE_LIMIT_EXCEEDED when the network or the address is over its limit.
 */
export async function resendVerification(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const { email: to } = parse(emailBody, request.body)
  await answerInEqualTime(app, anonymousOf(request), { kind: 'resend', to }, () => orderVerification(app, to))
  return { accepted: true }
}
