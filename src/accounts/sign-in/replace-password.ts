// Another password ends sessions, mails that would set yet another one, and the count of failed logins.
import type { Sql } from '../../core/database/database.ts'
import { newId } from '../../core/id.ts'
import { voidMailTokens } from '../mail/tokens.ts'
import { forgetTries } from './login-guard.ts'

export interface Replacement {
  userId: string
  email: string
  /** Of the new password; made before the transaction begins, because its turn may be long in coming. */
  hash: string
  /** The one session that goes on. */
  keepSessionId?: string
}

/** Keeps others from replacing the user's password until the caller's transaction ends; null where there is no such user. */
export async function lockUser(tx: Sql, userId: string): Promise<{ email: string } | null> {
  const { rows } = await tx.query<{ email: string }>('select email from users where id = $1 for no key update', [userId])
  return rows[0] ?? null
}

/** In the caller's transaction, which began with {@link lockUser}. */
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
