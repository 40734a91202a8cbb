// Signing up: an account that begins when its e-mail address is proved.
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../core/app.ts'
import { parse, text } from '../core/validation.ts'
import { alike, asking, type ConsoleUser, codeIn, consoleUser } from './auth-call.ts'
import { email } from './email.ts'

export const password = text(10, 128)

const signUpBody = z.object({ email, password, name: text(1, 100) })
const tokenBody = z.object({ token: text(1, 2_048) })
const emailBody = z.object({ email })

/** Answers alike whether the address has an account or not; its owner reads which in a mail. @throws VALIDATION_ERROR. */
export async function signUp(app: App, request: FastifyRequest): Promise<{ user: ConsoleUser }> {
  const body = parse(signUpBody, request.body)
  const { user } = await alike(asking(signUpOnce(app, body)))
  return { user: consoleUser(user) }
}

async function signUpOnce(app: App, body: z.output<typeof signUpBody>): Promise<{ user: ConsoleUser }> {
  const { api } = await app.identity.auth()
  try {
    return await api.signUpEmail({ body })
  } catch (error) {
    if (codeIn(error) !== 'FAILED_TO_CREATE_USER') throw error
    // The same address was signed up at the same moment; it is known by now, and is answered as known ones are.
    return await api.signUpEmail({ body })
  }
}

/** @throws INVALID_TOKEN. */
export async function verifyEmail(app: App, request: FastifyRequest): Promise<{ verified: true }> {
  const query = parse(tokenBody, request.body)
  await asking((await app.identity.auth()).api.verifyEmail({ query }))
  return { verified: true }
}

/** Sends the mail again where it is of use. Answers alike whatever the address. */
export async function resendVerification(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const body = parse(emailBody, request.body)
  await alike(asking((await app.identity.auth()).api.sendVerificationEmail({ body }).catch(ignoreVerified)))
  return { accepted: true }
}

/** An address that is verified already needs no mail, and nobody else is to know that it is. */
function ignoreVerified(error: unknown): void {
  if (codeIn(error) !== 'EMAIL_ALREADY_VERIFIED') throw error
}

/** Sends a mail to whoever has an account with the address. Answers alike whether anybody has. */
export async function forgotPassword(app: App, request: FastifyRequest): Promise<{ accepted: true }> {
  const body = parse(emailBody, request.body)
  await alike(asking((await app.identity.auth()).api.requestPasswordReset({ body })))
  return { accepted: true }
}
