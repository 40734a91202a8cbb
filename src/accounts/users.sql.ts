// SQL of users: their row locks (FOR NO KEY UPDATE, which foreign keys to the user do not wait for). They find no user that has ended: the row
// may stay, and neither a mail that was sent before nor a sign-up with its address may open it again.
import type { Sql } from '../core/database/database.ts'

export interface LockedUser {
  id: string
  email: string
  name: string
  emailVerified: boolean
}

/** Locks a user until the caller's transaction ends, so that changes of the account run one after another. */
export async function lockUser(tx: Sql, id: string): Promise<LockedUser | undefined> {
  return await lockWhere(tx, 'id = $1', id)
}

/** Locks the user with that address (unique index). */
export async function lockUserOf(tx: Sql, email: string): Promise<LockedUser | undefined> {
  return await lockWhere(tx, 'email = $1', email)
}

/** Locks the user with that address (unique index) if it is not verified. */
export async function lockUnverified(tx: Sql, email: string): Promise<LockedUser | undefined> {
  return await lockWhere(tx, 'email = $1 and not "emailVerified"', email)
}

async function lockWhere(tx: Sql, condition: string, value: string): Promise<LockedUser | undefined> {
  const { rows } = await tx.query<LockedUser>(
    `select id, email, name, "emailVerified" from users where ${condition} and "endedAt" is null for no key update`,
    [value],
  )
  return rows[0]
}
