// Sign-up: creates an account that works once its e-mail address is verified.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Sql } from '../../core/database/database.ts'
import { sqlTransaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { newId } from '../../core/id.ts'
import { parse, text } from '../../core/validation.ts'
import { email } from '../email.ts'
import { password } from '../fields.ts'
import { orderMail } from '../mail/order.ts'
import { orderToken } from '../mail/token-mail.ts'
import { keepMailToken, newMailToken, voidMailTokens } from '../mail/tokens.ts'
import { openAccountIn } from '../open-account.ts'
import { answerAlike } from './ask-bounds.ts'
import type { ConsoleUser } from './auth-call.ts'
import { strangerOf } from './claimant.ts'
import { hashPassword } from './password.ts'

export const signUpBody = z
  .object({
    email: email.describe('The address of the account. The verification mail goes to it.'),
    password: password.describe('The password, 10 to 128 characters.'),
    name: text(1, 100).describe("The user's name."),
  })
  .describe('A new account.')

/**
 * The response is the same for an address with an account and one without. A mail tells the owner of the address which one it is.
 * @throws VALIDATION_ERROR when the body is invalid; API_RATE_LIMIT_EXCEEDED when the network or the address is over its limit;
 * SERVICE_UNAVAILABLE when too many requests are queued in all.
 */
export async function signUp(app: App, request: FastifyRequest): Promise<{ user: ConsoleUser }> {
  const { email, name, password } = parse(signUpBody, request.body)
  const user = { id: newId(), email, name, emailVerified: false, createdAt: new Date() }
  await answerAlike(app, strangerOf(request), { kind: 'signup', to: email }, () => addUser(app, user, password))
  return { user }
}

/**
 * Hashes before the transaction, because hashing may wait long for its turn and must hold no connection meanwhile. Hashes even if the hash
 * is not needed, so that the response time reveals nothing.
 */
async function addUser(app: App, user: ConsoleUser, password: string): Promise<void> {
  const hash = await hashPassword(password, await unprovedHashOf(app.pool, user.email))
  await sqlTransaction(app.pool, async (tx) => {
    const { id, email, name, createdAt } = user
    const { rowCount } = await tx.query(
      'insert into users (id, email, name, "createdAt") values ($1, $2, $3, $4) on conflict (email) do nothing',
      [id, email, name, createdAt],
    )
    if (!rowCount) return await signUpAgain(app, tx, user, hash)
    await insertCredential(tx, id, hash)
    await openAccountIn(tx, id, 'free')
    await orderToken(app, tx, 'verify-email', email, id)
  })
}

/** Returns the password hash of the unverified sign-up with that address; undefined if there is none. */
async function unprovedHashOf(sql: Sql, email: string): Promise<string | undefined> {
  const { rows } = await sql.query<{ hash: string | null }>(
    `select a.password as hash from users u join auth_accounts a on a."userId" = u.id and a."providerId" = 'credential'
      where u.email = $1 and not u."emailVerified"`,
    [email],
  )
  return rows[0]?.hash ?? undefined
}

/**
 * A further sign-up replaces an unverified one: its name, its password, its links to an identity provider, and the tokens of its mails. So
 * the mail that was sent last belongs to the current password. The same name and password again are the same sign-up: earlier mails stay
 * valid. If the address has reached its mail limit, the earlier sign-up stays unchanged, because no mail would belong to this one. A
 * verified account stays unchanged.
 */
async function signUpAgain(app: App, tx: Sql, { email, name, createdAt }: ConsoleUser, hash: string): Promise<void> {
  const { rows } = await tx.query<{ id: string; name: string; emailVerified: boolean }>(
    'select id, name, "emailVerified" from users where email = $1 for no key update',
    [email],
  )
  // Deleted in the meantime, because it was not verified for a week. The next attempt creates a new one.
  const before = rows[0] ?? fail('SERVICE_UNAVAILABLE')
  if (before.emailVerified) {
    await orderMail(app, tx, { kind: 'known', to: email })
    return
  }
  const token = newMailToken()
  if ((await orderMail(app, tx, { kind: 'verify', to: email, token })) !== null) return
  const isSame = before.name === name && (await unprovedHashOf(tx, email)) === hash
  if (!isSame) await replaceSignUp(tx, { id: before.id, name, createdAt, hash })
  await keepMailToken(tx, 'verify-email', token, before.id)
}

interface Replacement {
  id: string
  name: string
  createdAt: Date
  hash: string
}

async function replaceSignUp(tx: Sql, { id, name, createdAt, hash }: Replacement): Promise<void> {
  await tx.query('update users set name = $2, "createdAt" = $3, "updatedAt" = now() where id = $1', [id, name, createdAt])
  await tx.query('delete from auth_accounts where "userId" = $1', [id])
  await insertCredential(tx, id, hash)
  await voidMailTokens(tx, 'verify-email', id)
}

async function insertCredential(tx: Sql, userId: string, hash: string): Promise<void> {
  await tx.query(
    `insert into auth_accounts (id, "userId", "providerId", "accountId", password) values ($1, $2, 'credential', $3, $4)`,
    [newId(), userId, userId, hash],
  )
}
