// Limits the sessions of one person: a program may sign in for every token, and nothing else ends a session for 30 days.
import type { Sql } from '../../core/database/database.ts'

const most = 1_000

/** Ends the least recently used sessions beyond that number. */
export async function boundSessions(sql: Sql, userId: string): Promise<void> {
  // Use extends `expiresAt`, at most once a day, so its order is the order of last use to about a day.
  await sql.query(
    `delete from auth_sessions where id in (
      select id from auth_sessions where "userId" = $1 order by "expiresAt" desc, id desc offset $2)`,
    [userId, most],
  )
}
