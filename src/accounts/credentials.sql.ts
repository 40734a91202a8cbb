// SQL of credentials that are used for longer than the moment of a request.
import type { Sql } from '../core/database/database.ts'

/** Those of the ids that are keys not revoked and not resting, or sessions not expired (primary keys). */
export async function readValidCredentials(sql: Sql, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await sql.query<{ id: string }>(
    `select id from api_keys where id = any($1::uuid[]) and "revokedAt" is null and "restingAt" is null
     union all
     select id from auth_sessions where id = any($1::uuid[]) and "expiresAt" > now()`,
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}

/** True if the id is that of a key not revoked, resting or not, or of a session not expired (primary keys). */
export async function isValidCredential(sql: Sql, id: string): Promise<boolean> {
  const { rowCount } = await sql.query({
    name: 'accounts.valid',
    text: `select from api_keys where id = $1 and "revokedAt" is null
      union all select from auth_sessions where id = $1 and "expiresAt" > now()`,
    values: [id],
  })
  return rowCount === 1
}
