// Who has an e-mail address, for the operator, who calls people by it.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'

/** The id of the user with that address, whichever way it is written. @throws NOT_FOUND for an unknown one. */
export async function userIdOf(sql: Sql, email: string): Promise<string> {
  const { rows } = await sql.query<{ id: string }>('select id from users where email = lower($1)', [email])
  return rows[0]?.id ?? fail('NOT_FOUND', `There is no account with the e-mail address ${email}`)
}
