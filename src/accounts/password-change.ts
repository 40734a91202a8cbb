// Setting another password: with the old one, or with the token of a mail.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database.ts'
import { fail } from '../core/errors.ts'
import { parse, text } from '../core/validation.ts'
import { asking, callerOf, refuseToken } from './auth-call.ts'
import { forgetTries, guarded } from './login-guard.ts'
import { hashPassword, verifyPassword } from './password.ts'
import { password } from './sign-up.ts'

const resetBody = z.object({ token: text(1, 2_048), password })
const changeBody = z.object({ currentPassword: text(1, 128), newPassword: password })

/** Ends every session. @throws INVALID_TOKEN for one that is wrong, old or used. */
export async function resetPassword(app: App, request: FastifyRequest): Promise<{ changed: true }> {
  const { token, password: newPassword } = parse(resetBody, request.body)
  await asking((await app.identity.auth()).api.resetPassword({ body: { token, newPassword } }))
  return { changed: true }
}

/** Ends every session but the one that asks. @throws INVALID_CREDENTIALS for a wrong current password, API_RATE_LIMIT_EXCEEDED after five, UNAUTHORIZED. */
export async function changePassword(app: App, request: FastifyRequest, reply: FastifyReply): Promise<{ changed: true }> {
  const { userId, sessionId } = await callerOf(app, request)
  const { currentPassword, newPassword } = parse(changeBody, request.body)
  const { rows } = await app.pool.query<{ email: string; password: string | null }>(
    `select u.email, a.password from users u left join auth_accounts a on a."userId" = u.id and a."providerId" = 'credential' where u.id = $1`,
    [userId],
  )
  const { email, password: current } = rows[0] ?? refuseToken()
  if (!current) fail('INVALID_STATE', 'This account has no password; set one with a mail (password/forgot)')
  await guarded(app, reply, email)
  if (!(await verifyPassword(current, currentPassword))) fail('INVALID_CREDENTIALS', 'currentPassword: is not the password')
  await forgetTries(app.pool, email)
  const hash = await hashPassword(newPassword)
  await transaction(app.pool, async (tx) => {
    const { rowCount } = await tx.query(
      `update auth_accounts set password = $2, "updatedAt" = now() where "userId" = $1 and "providerId" = 'credential' and password = $3`,
      [userId, hash, current],
    )
    if (!rowCount) fail('CONFLICT', 'The password was changed by somebody else at the same time')
    await tx.query('delete from auth_sessions where "userId" = $1 and id <> $2', [userId, sessionId])
  })
  return { changed: true }
}
