// SQL of users: their row locks (FOR NO KEY UPDATE, which foreign keys to the user do not wait for).
import type { Sql } from '../core/database/database.ts'

export interface LockedUser {
  id: string
  email: string
  name: string
  emailVerified: boolean
}

const columns = 'id, email, name, "emailVerified"'

/**
 * Locks a user until the caller's transaction ends, so that changes of the account run one after another. Undefined for one that has ended,
 * whose row may stay: a mail that was sent before must not open it again.
 */
export async function lockUser(tx: Sql, id: string): Promise<LockedUser | undefined> {
  const { rows } = await tx.query<LockedUser>(
    `select ${columns} from users where id = $1 and "endedAt" is null for no key update`,
    [id],
  )
  return rows[0]
}

/** Locks the user with that address (unique index). */
export async function lockUserOf(tx: Sql, email: string): Promise<LockedUser | undefined> {
  return (await tx.query<LockedUser>(`select ${columns} from users where email = $1 for no key update`, [email])).rows[0]
}

/** Locks the user with that address (unique index) if it is not verified. */
export async function lockUnverified(tx: Sql, email: string): Promise<LockedUser | undefined> {
  const { rows } = await tx.query<LockedUser>(
    `select ${columns} from users where email = $1 and not "emailVerified" for no key update`,
    [email],
  )
  return rows[0]
}
