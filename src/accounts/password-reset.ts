// A forgotten password: a mail with a token that works once, and another password for it.
import { createHash, randomBytes } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { newId } from '../core/id.ts'
import { parse } from '../core/validation.ts'
import { alike } from './auth-call.ts'
import { email } from './email.ts'
import { orderMail } from './mail.ts'
import { takeNothing } from './mail-budget.ts'
import { hashPassword } from './password.ts'
import { lockUser, replacePassword } from './replace-password.ts'
import { mailToken, password } from './sign-up.ts'

export const forgotBody = z.object({ email: email.describe('Whose password it is.') }).describe('Whom to write to.')
export const resetBody = z
  .object({ token: mailToken, password: password.describe('The new one, 10 to 128 characters.') })
  .describe('A new password for the token of a mail.')

/** Sends a mail to whoever has an account with the address. Answers alike whether anybody has. */
export async function forgotPassword(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const body = parse(forgotBody, request.body)
  await alike(orderReset(app, body.email))
  return { accepted: true }
}

async function orderReset(app: App, to: string): Promise<void> {
  const token = randomBytes(24).toString('base64url')
  await transaction(app.pool, async (tx) => {
    const { rows } = await tx.query<{ id: string }>('select id from users where email = $1', [to])
    if (!rows[0]) return await takeNothing(tx, { kind: 'reset', to })
    if ((await orderMail(app, tx, { kind: 'reset', to, token })) !== null) return
    await tx.query(
      `insert into auth_verifications (id, identifier, value, "expiresAt") values ($1, $2, $3, now() + interval '1 hour')`,
      [newId(), identifierOf(token), rows[0].id],
    )
  })
}

/** Ends every session. @throws INVALID_TOKEN for one that is wrong, old or used. */
export async function resetPassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { token, password: newPassword } = parse(resetBody, request.body)
  const identifier = identifierOf(token)
  const { rows } = await app.pool.query<{ userId: string }>(
    'select value as "userId" from auth_verifications where identifier = $1 and "expiresAt" > now()',
    [identifier],
  )
  const { userId } = rows[0] ?? fail('INVALID_TOKEN')
  const hash = await hashPassword(newPassword)
  await transaction(app.pool, async (tx) => {
    const { email } = (await lockUser(tx, userId)) ?? fail('INVALID_TOKEN')
    const { rowCount } = await tx.query('delete from auth_verifications where identifier = $1 and "expiresAt" > now()', [
      identifier,
    ])
    if (!rowCount) fail('INVALID_TOKEN')
    await replacePassword(tx, { userId, email, hash })
    // Nobody had proved the address until now: who began with it at an identity provider that did not vouch for them is not let in by this.
    await tx.query(
      `delete from auth_accounts a using users u
        where u.id = $1 and not u."emailVerified" and a."userId" = u.id and a."providerId" <> 'credential'`,
      [userId],
    )
    // Whoever reads the mail of an address has proved to have it.
    await tx.query('update users set "emailVerified" = true, "updatedAt" = now() where id = $1', [userId])
  })
  return { changed: true }
}

/** The token itself is in the mail alone. */
function identifierOf(token: string): string {
  return createHash('sha256').update(`reset-password:${token}`).digest('base64url')
}
