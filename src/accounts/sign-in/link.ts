// One-time links that sign in the person who opens them. The operator makes them; the gateway sends none.
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { App } from '../../core/app.ts'
import type { Config } from '../../core/config/config.ts'
import type { Db } from '../../core/database/database.ts'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { fail } from '../../core/errors.ts'
import { hostToReach } from '../../core/network/listening.ts'
import { parse, text } from '../../core/validation.ts'
import { userIdOf } from '../find-user.ts'
import { keepMailToken, newMailToken, ownerOfMailToken, takeMailToken } from '../mail/tokens.ts'
import { lockUser } from '../users.sql.ts'
import { countRequest } from './anonymous-limits.ts'
import { asking, type ConsoleUser, checkOrigin, consoleUser, headersOf, passCookies } from './auth-call.ts'
import { anonymousOf, inTurnOf } from './claimant.ts'
import { identity } from './identity.ts'
import { rememberDevice } from './known-device.ts'
import { type Token, tokenFor } from './sign-in.ts'

export const linkBody = z
  .object({ token: text(1, 2_048).describe('The token in the link, after `#once=`.') })
  .describe('The token of a one-time link.')

/**
 * Stores a one-time token of the account, and returns the link. The token stands in its fragment, which browsers send to no server.
 * @throws NOT_FOUND when no account has the address.
 */
export async function makeSignInLink(db: Db, { email, base }: { email: string; base: string }): Promise<string> {
  const token = newMailToken()
  await transaction(db, async (tx) => keepMailToken(tx, 'sign-in', token, await userIdOf(tx.db, email)))
  return `${base}/sign-in#once=${token}`
}

/** The URL of the console as the configuration has it, for a command that knows no running gateway. */
export async function consoleBase({ consoleUrl, publicUrl, host, port }: Config): Promise<string> {
  return consoleUrl ?? publicUrl ?? `http://${await hostToReach(host)}:${port}`
}

/**
 * Begins a session for the token of a link, which is used up, and marks this device as known for the account.
 * @throws INVALID_TOKEN when the token is wrong, expired or used; EMAIL_NOT_VERIFIED when the address is not verified; FORBIDDEN when the
 * page's origin is not trusted; API_RATE_LIMIT_EXCEEDED when the network is over its limit or has too many queued requests;
 * SERVICE_UNAVAILABLE when too many requests are queued in all.
 */
export async function signInByLink(
  app: App,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Token & { user: ConsoleUser }> {
  checkOrigin(app, request)
  const { token } = parse(linkBody, request.body)
  const client = anonymousOf(request)
  return await inTurnOf(client, async () => {
    await countRequest(app, client, 'sign-in link')
    const userId = await transaction(app.db, (tx) => ownerOf(tx, token))
    const { api } = await identity(app).auth()
    const { response, headers } = await asking(
      app,
      api.signInDirectly({ body: { userId }, headers: headersOf(request), returnHeaders: true }),
    )
    // A new password, or the end of the account, voids the token and ends the sessions of that moment. It may have come before this session
    // began, so the token is taken after it.
    await takeLink(app, token).catch(async (error: Error) => {
      await app.db.authSession.deleteMany({ where: { id: response.session.id } })
      throw error
    })
    passCookies(reply, headers)
    rememberDevice(app, request, reply, response.user.email)
    return { ...(await tokenFor(app, userId, response.session.id)), user: consoleUser(response.user) }
  })
}

/** Locks the person whom the token of a link signs in. */
async function ownerOf(tx: Tx, token: string): Promise<string> {
  const userId = (await ownerOfMailToken(tx.db, 'sign-in', token)) ?? fail('INVALID_TOKEN')
  const user = (await lockUser(tx, userId)) ?? fail('INVALID_TOKEN')
  if (!user.emailVerified) fail('EMAIL_NOT_VERIFIED')
  return userId
}

async function takeLink(app: App, token: string): Promise<void> {
  await transaction(app.db, async (tx) => {
    await ownerOf(tx, token)
    if (!(await takeMailToken(tx, 'sign-in', token))) fail('INVALID_TOKEN')
  })
}
