// SQL of sessions: the check of a new one, the lock of one, and the limit of those of one person.
import type { Sql } from '../../core/database/database.ts'

/**
 * Returns the session with that token, and the password hash of its user. FOR SHARE waits for a password change that is in progress; a
 * later change finds the session and ends it.
 */
export async function lockHashOfSession(sql: Sql, token: string): Promise<{ id: string; hash: string | null } | undefined> {
  const { rows } = await sql.query<{ id: string; hash: string | null }>(
    `select s.id, a.password as hash from auth_sessions s
      join auth_accounts a on a."userId" = s."userId" and a."providerId" = 'credential' where s.token = $1 for share of a`,
    [token],
  )
  return rows[0]
}

/** Locks a session that is not over (FOR KEY SHARE), so that its end waits for the transaction. Returns false if there is no such session. */
export async function lockSession(tx: Sql, id: string): Promise<boolean> {
  return (await tx.query('select from auth_sessions where id = $1 and "expiresAt" > now() for key share', [id])).rowCount === 1
}

/**
 * Ends the least recently used sessions of a person beyond `most`, and all of them if the account has ended. FOR SHARE waits for the end of
 * an account that is in progress; a later end finds the new session. Use extends `expiresAt`, at most once a day, so its order is the order
 * of last use to about a day.
 */
export async function boundSessions(sql: Sql, userId: string, most: number): Promise<void> {
  await sql.query(
    `with person as (select "endedAt" from users where id = $1 for share)
     delete from auth_sessions where "userId" = $1 and ((select "endedAt" is not null from person) or id in (
       select id from auth_sessions where "userId" = $1 order by "expiresAt" desc, id desc offset $2))`,
    [userId, most],
  )
}
