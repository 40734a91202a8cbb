// Sign-up: creates an account that works once its e-mail address is verified.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { nameOf, parse } from '../../core/validation.ts'
import type { Prisma } from '../../generated/prisma/client.ts'
import { hashOf, insertCredential } from '../credential.ts'
import { email } from '../email.ts'
import { password } from '../fields.ts'
import { orderMail } from '../mail/order.ts'
import { orderToken } from '../mail/token-mail.ts'
import { keepMailToken, newMailToken, voidMailTokens } from '../mail/tokens.ts'
import { openAccountIn } from '../open-account.ts'
import { lockUserOf } from '../users.sql.ts'
import { answerInEqualTime } from './anonymous-limits.ts'
import type { ConsoleUser } from './auth-call.ts'
import { anonymousOf } from './claimant.ts'
import { hashPassword } from './password.ts'
import { signUpFault } from './sign-up-rule.ts'

export const signUpBody = z
  .object({
    email: email.describe('The address of the account. The verification mail goes to it.'),
    password: password.describe('The password, 10 to 128 characters.'),
    name: nameOf(100).describe("The user's name."),
  })
  .describe('A new account.')

/**
 * The response is the same for an address with an account and one without. A mail tells the owner of the address which one it is.
 * @throws VALIDATION_ERROR when the body is invalid; FORBIDDEN when `SIGNUP` does not allow it, with or without an account;
 * API_RATE_LIMIT_EXCEEDED when the network or the address is over its limit; SERVICE_UNAVAILABLE when too many requests are queued in all.
 */
export async function signUp(app: App, request: FastifyRequest): Promise<{ user: ConsoleUser }> {
  const { email, name, password } = parse(signUpBody, request.body)
  const user = { id: newId(), email, name, emailVerified: false, createdAt: new Date() }
  await answerInEqualTime(app, anonymousOf(request), { kind: 'signup', to: email }, () => addUser(app, user, password))
  return { user }
}

/**
 * Hashes before the transaction, because hashing may wait long for its turn and must hold no connection meanwhile. Hashes even if the hash
 * is not needed, so that the response time reveals nothing.
 */
async function addUser(app: App, user: ConsoleUser, password: string): Promise<void> {
  const fault = await signUpFault(app, app.db, user.email)
  if (fault) fail('FORBIDDEN', fault)
  const hash = await hashPassword(password, await unprovedHashOf(app.db, user.email))
  await transaction(app.db, async (tx) => {
    const { id, email, name, createdAt } = user
    const { count } = await tx.db.user.createMany({ data: { id, email, name, createdAt }, skipDuplicates: true })
    if (count === 0) return await signUpAgain(app, tx, user, hash)
    await insertCredential(tx, id, hash)
    await openAccountIn(tx, id, 'free')
    await orderToken(app, tx, 'verify-email', user)
  })
}

/** Returns the password hash of the unverified sign-up with that address; null if there is none. */
async function unprovedHashOf(db: Prisma.TransactionClient, email: string): Promise<string | null> {
  return await hashOf(db, { email, emailVerified: false })
}

/**
 * A further sign-up replaces an unverified one: its name, its password, its links to an identity provider, and the tokens of its mails. So
 * the mail that was sent last belongs to the current password. The same name and password again are the same sign-up: earlier mails stay
 * valid. If the address has reached its mail limit, the earlier sign-up stays unchanged, because no mail would belong to this one. A
 * verified account stays unchanged.
 */
async function signUpAgain(app: App, tx: Tx, { email, name, createdAt }: ConsoleUser, hash: string): Promise<void> {
  // Deleted in the meantime, because it was not verified for a week, and the next attempt creates a new one. Or the row of an ended account.
  const before = (await lockUserOf(tx, email)) ?? fail('SERVICE_UNAVAILABLE')
  if (before.emailVerified) {
    await orderMail(app, tx, { kind: 'known', to: email })
    return
  }
  const token = newMailToken()
  if ((await orderMail(app, tx, { kind: 'verify', to: email, token })) !== null) return
  const isSame = before.name === name && (await unprovedHashOf(tx.db, email)) === hash
  if (!isSame) await replaceSignUp(tx, { id: before.id, name, createdAt, hash })
  await keepMailToken(tx, 'verify-email', token, before.id)
}

interface Replacement {
  id: string
  name: string
  createdAt: Date
  hash: string
}

async function replaceSignUp(tx: Tx, { id, name, createdAt, hash }: Replacement): Promise<void> {
  await tx.db.user.update({ where: { id }, data: { name, createdAt } })
  await tx.db.authAccount.deleteMany({ where: { userId: id } })
  await insertCredential(tx, id, hash)
  await voidMailTokens(tx, 'verify-email', id)
}
