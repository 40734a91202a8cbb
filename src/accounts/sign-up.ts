// Signing up: an account that begins when its e-mail address is proved.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { transaction } from '../core/database.ts'
import { newId } from '../core/id.ts'
import { parse, text } from '../core/validation.ts'
import { alike, asking, type ConsoleUser } from './auth-call.ts'
import { email } from './email.ts'
import { orderMail } from './mail.ts'
import { takeNothing } from './mail-budget.ts'
import { openAccountIn } from './open-account.ts'
import { hashPassword } from './password.ts'

export const password = text(10, 128)
export const mailToken = text(1, 2_048).describe('The token in the link of the mail.')

export const signUpBody = z
  .object({
    email: email.describe('Where the mail goes, and what you sign in by.'),
    password: password.describe('10 to 128 characters.'),
    name: text(1, 100).describe('What people call you.'),
  })
  .describe('A new account.')
export const tokenBody = z.object({ token: mailToken }).describe('What a mail told.')
export const emailBody = z.object({ email: email.describe('Whose account it is about.') }).describe('An address.')

/** Answers alike whether the address has an account or not; its owner reads which in a mail. @throws VALIDATION_ERROR. */
export async function signUp(app: App, request: FastifyRequest): Promise<{ user: ConsoleUser }> {
  const { email, name, password } = parse(signUpBody, request.body)
  const user = { id: newId(), email, name, emailVerified: false, createdAt: new Date() }
  await alike(addUser(app, user, password))
  return { user }
}

/** The account and its mail, or the mail to whoever has one already. Hashing waits its turn, so it holds no connection meanwhile. */
async function addUser(app: App, { id, email, name, createdAt }: ConsoleUser, password: string): Promise<void> {
  const hash = await hashPassword(password)
  const token = await verificationToken(app, email)
  await transaction(app.pool, async (tx) => {
    const { rowCount } = await tx.query(
      'insert into users (id, email, name, "createdAt") values ($1, $2, $3, $4) on conflict (email) do nothing',
      [id, email, name, createdAt],
    )
    if (!rowCount) {
      await orderMail(app, tx, { kind: 'known', to: email })
      return
    }
    await tx.query(
      `insert into auth_accounts (id, "userId", "providerId", "accountId", password) values ($1, $2, 'credential', $3, $4)`,
      [newId(), id, id, hash],
    )
    await openAccountIn(tx, id, 'free')
    await orderMail(app, tx, { kind: 'verify', to: email, token })
  })
}

/** Of the form that better-auth verifies. */
async function verificationToken(app: App, email: string): Promise<string> {
  const { secret, options } = await (await app.identity.auth()).$context
  const { createEmailVerificationToken } = await import('better-auth/api')
  return await createEmailVerificationToken(secret, email, undefined, options.emailVerification?.expiresIn)
}

/** @throws INVALID_TOKEN. */
export async function verifyEmail(app: App, request: FastifyRequest): Promise<{ verified: true }> {
  const query = parse(tokenBody, request.body)
  await asking(app, (await app.identity.auth()).api.verifyEmail({ query }))
  return { verified: true }
}

/** Sends the mail again where it is of use. Answers alike whatever the address. */
export async function resendVerification(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const body = parse(emailBody, request.body)
  await alike(orderVerification(app, body.email))
  return { accepted: true }
}

async function orderVerification(app: App, to: string): Promise<void> {
  const token = await verificationToken(app, to)
  await transaction(app.pool, async (tx) => {
    const { rowCount } = await tx.query('select from users where email = $1 and not "emailVerified"', [to])
    if (rowCount) await orderMail(app, tx, { kind: 'verify', to, token })
    else await takeNothing(tx, { kind: 'verify', to })
  })
}
