// How many sessions one person has at most: a program may sign in anew for every token, and nothing else ends a session for 30 days.
import type { Sql } from '../../core/database/database.ts'

const most = 1_000

/** Ends the sessions beyond that number which were not used for the longest time. */
export async function boundSessions(sql: Sql, userId: string): Promise<void> {
  // The later one ends, the later it was used.
  await sql.query(
    `delete from auth_sessions where id in (
      select id from auth_sessions where "userId" = $1 order by "expiresAt" desc, id desc offset $2)`,
    [userId, most],
  )
}
