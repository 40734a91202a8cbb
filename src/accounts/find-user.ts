// Looks up a user by e-mail address, for operator commands.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'

/** Returns the id of the user with that address, in any case. @throws NOT_FOUND when no user has it. */
export async function userIdOf(sql: Sql, email: string): Promise<string> {
  const { rows } = await sql.query<{ id: string }>('select id from users where email = lower($1)', [email])
  return rows[0]?.id ?? fail('NOT_FOUND', `There is no account with the e-mail address ${email}`)
}
