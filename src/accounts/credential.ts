// The password of an account: its hash is stored in the row of `auth_accounts` with the provider `credential`.
import type { Tx } from '../core/database/transaction.ts'
import { newId } from '../core/id.ts'
import type { Prisma } from '../generated/prisma/client.ts'

const providerId = 'credential'

/**
 * Returns the password hash of a user; null if the user has no password or does not exist. One statement in either case, so that its time
 * does not tell known and unknown addresses apart.
 */
export async function hashOf(db: Prisma.TransactionClient, where: Prisma.UserWhereInput): Promise<string | null> {
  const credential = { where: { providerId }, select: { password: true } }
  const user = await db.user.findFirst({ where, select: { authaccounts: credential } })
  return user?.authaccounts[0]?.password ?? null
}

/** Stores the first password of an account. */
export async function insertCredential({ db }: Tx, userId: string, hash: string): Promise<void> {
  await db.authAccount.create({ data: { id: newId(), userId, providerId, accountId: userId, password: hash } })
}

/** Stores the password of an account, which may have none. */
export async function storeCredential({ db }: Tx, userId: string, hash: string): Promise<void> {
  await db.authAccount.upsert({
    where: { providerId_accountId: { providerId, accountId: userId } },
    create: { id: newId(), userId, providerId, accountId: userId, password: hash },
    update: { password: hash },
  })
}

/** Deletes the account's links to identity providers if its address is not verified. */
export async function unlinkProviders({ db }: Tx, userId: string): Promise<void> {
  await db.authAccount.deleteMany({ where: { userId, providerId: { not: providerId }, user: { emailVerified: false } } })
}
