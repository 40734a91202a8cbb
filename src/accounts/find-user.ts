// Looks up users and their sessions: for operator commands, and for the domains above.
import type { Tx } from '../core/database/transaction.ts'
import { fail, invalidToken } from '../core/errors.ts'
import type { Author } from '../core/graph/author.ts'
import type { Prisma } from '../generated/prisma/client.ts'
import { type LockedUser, lockUserOf } from './users.sql.ts'

/** Returns the id of the user with that address, in any case. @throws NOT_FOUND when no user has it who has not ended. */
export async function userIdOf(db: Prisma.TransactionClient, email: string): Promise<string> {
  const user = await db.user.findUnique({ where: { email: email.toLowerCase(), endedAt: null }, select: { id: true } })
  return user?.id ?? failUnknown(email)
}

/** Locks the user with that address, in any case. @throws as {@link userIdOf}. */
export async function lockAccountOf(tx: Tx, email: string): Promise<LockedUser> {
  return (await lockUserOf(tx, email.toLowerCase())) ?? failUnknown(email)
}

function failUnknown(email: string): never {
  return fail('NOT_FOUND', `No account has the e-mail address ${email}`)
}

export interface Person extends Author {
  emailVerified: boolean
}

/** The person with that id. @throws Error when there is none: accounts are never deleted while something belongs to them. */
export async function personOf(db: Prisma.TransactionClient, id: string): Promise<Person> {
  return await db.user.findUniqueOrThrow({ where: { id }, select: { id: true, email: true, name: true, emailVerified: true } })
}

/** @throws UNAUTHORIZED when the account has ended: its owner's sessions are no longer valid. */
export async function refuseEnded(db: Prisma.TransactionClient, id: string): Promise<void> {
  if ((await db.user.count({ where: { id, endedAt: null } })) === 0) fail('UNAUTHORIZED', invalidToken)
}

/** Implements `Hooks.readAuthors` (core/app.ts). */
export async function readAuthors(db: Prisma.TransactionClient, ids: readonly string[]): Promise<Author[]> {
  return await db.user.findMany({ where: { id: { in: [...ids] } }, select: { id: true, email: true, name: true } })
}

/** Returns the IP address that a session began from; null if it is unknown. */
export async function addressOfSession(db: Prisma.TransactionClient, sessionId: string): Promise<string | null> {
  const session = await db.authSession.findUnique({ where: { id: sessionId }, select: { ipAddress: true } })
  return session?.ipAddress ?? null
}
