// SQL of credentials that open streams hold.
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
