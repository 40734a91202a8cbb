// SQL of the keys that sign access tokens. The doctor reads them without a gateway.
import type { Sql } from '../../core/database/database.ts'

/** Returns the private key that signs at present, encrypted, as JSON text; undefined if there is no key yet. */
export async function newestSigningKey(sql: Sql): Promise<string | undefined> {
  const { rows } = await sql.query<{ key: string }>(
    `select "privateKey" as key from auth_jwks where "expiresAt" is null or "expiresAt" > now() order by "createdAt" desc limit 1`,
  )
  return rows[0]?.key
}
