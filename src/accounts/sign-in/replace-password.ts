// Replaces a password: also ends sessions, makes mails that would set another password void, and clears failed logins.
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { voidMailTokens } from '../mail/tokens.ts'
import { forgetTries } from './login-guard.ts'

export interface Replacement {
  userId: string
  email: string
  /** Hash of the new password. Compute it before the transaction begins, because hashing may wait long for its turn. */
  hash: string
  /** The one session that is kept. */
  keepSessionId?: string
}

/**
 * Takes a row lock (FOR NO KEY UPDATE) on the user until the caller's transaction ends, so that password changes run one after another.
 * Returns null if there is no such user.
 */
export async function lockUser(tx: Sql, userId: string): Promise<{ email: string } | null> {
  const { rows } = await tx.query<{ email: string }>('select email from users where id = $1 for no key update', [userId])
  return rows[0] ?? null
}

/** Runs in the caller's transaction, which must begin with {@link lockUser}. */
export async function replacePassword(tx: Sql, { userId, email, hash, keepSessionId }: Replacement): Promise<void> {
  await tx.query(
    `insert into auth_accounts (id, "userId", "providerId", "accountId", password) values ($1, $2, 'credential', $3, $4)
      on conflict ("providerId", "accountId") do update set password = excluded.password, "updatedAt" = now()`,
    [newId(), userId, userId, hash],
  )
  await tx.query('delete from auth_sessions where "userId" = $1 and id is distinct from $2', [userId, keepSessionId ?? null])
  await voidMailTokens(tx, 'reset-password', userId)
  await forgetTries(tx, email)
}
