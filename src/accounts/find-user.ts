// Looks up users: by e-mail address for operator commands, by id for the domains above.
import type { Sql } from '../core/database/database.ts'
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'

/** Returns the id of the user with that address, in any case. @throws NOT_FOUND when no user has it. */
export async function userIdOf(sql: Sql, email: string): Promise<string> {
  const { rows } = await sql.query<{ id: string }>('select id from users where email = lower($1)', [email])
  return rows[0]?.id ?? fail('NOT_FOUND', `No account has the e-mail address ${email}`)
}

/** The person with that id. @throws Error when there is none: accounts are never deleted while something belongs to them. */
export async function personOf(tx: Tx, id: string): Promise<{ id: string; email: string; name: string }> {
  return await tx.db.user.findUniqueOrThrow({ where: { id }, select: { id: true, email: true, name: true } })
}
