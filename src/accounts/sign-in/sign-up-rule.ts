// The rule of new accounts (`SIGNUP`), for sign-up and single sign-on alike.
import type { App } from '../../core/app.ts'
import type { Prisma } from '../../generated/prisma/client.ts'

/** Returns the reason why no account may be created for that address; undefined if one may be. */
export async function signUpFault(
  { config, hooks }: App,
  db: Prisma.TransactionClient,
  email: string,
): Promise<string | undefined> {
  if (config.signUp === 'open') return undefined
  if (config.signUp === 'closed') return 'Sign-up is closed'
  return (await hooks.isInvited(db, email)) ? undefined : 'Sign-up needs an invitation'
}
