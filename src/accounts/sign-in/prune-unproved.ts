// Deletes accounts whose address was never verified, so that an address that somebody else signed up with is free again.
import type { Db } from '../../core/database/database.ts'
import { type Tx, transaction } from '../../core/database/transaction.ts'
import { dayMs } from '../../core/durations.ts'
import { nilId } from '../../core/id.ts'
import { isReferred } from '../../core/public-failure.ts'
import { hasMailToken } from '../mail/tokens.ts'
import { lockUser } from '../users.sql.ts'

const keptMs = 7 * dayMs
const pageSize = 500

/** Deletes unverified accounts older than a week that have no session, no mail with a valid link, and own nothing. Returns how many. */
export async function pruneUnproved(db: Db): Promise<number> {
  const idle = { emailVerified: false, authsessions: { none: {} }, apiKeys: { none: {} } }
  const createdAt = { lt: new Date(Date.now() - keptMs) }
  let deleted = 0
  let after = nilId
  for (;;) {
    const where = { ...idle, createdAt, id: { gt: after } }
    const users = await db.user.findMany({ where, select: { id: true }, orderBy: { id: 'asc' }, take: pageSize })
    for (const { id } of users) if (await transaction(db, (tx) => forget(tx, id)).catch(isInUse)) deleted++
    if (users.length < pageSize) return deleted
    after = users.at(-1)?.id as string
  }
}

/**
 * Returns true if the account was deleted; false if its address was verified in the meantime, or if a link in one of its mails still works.
 * A repeated sign-up or a requested mail may have made such a link in the meantime. Everything that an account may own has a foreign key to the
 * user or to the workspace, and that key rejects the delete.
 */
async function forget(tx: Tx, id: string): Promise<boolean> {
  const user = await lockUser(tx, id)
  if (!user || user.emailVerified || (await hasMailToken(tx, id))) return false
  await tx.db.workspace.deleteMany({ where: { ownerId: id } })
  await tx.db.subscription.deleteMany({ where: { userId: id } })
  await tx.db.user.deleteMany({ where: { id } })
  return true
}

function isInUse(error: unknown): false {
  if (isReferred(error)) return false
  throw error
}
