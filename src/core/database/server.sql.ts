// SQL of the version and the encoding of the database, and what the gateway requires of them.
import type { Sql } from './database.ts'

interface Server {
  version: string
  /** Why the gateway cannot use the database, with advice; undefined if it can. */
  fault: string | undefined
}

export async function readServer(sql: Sql): Promise<Server> {
  const { rows } = await sql.query<{ version: string; number: number; encoding: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding`,
  )
  const { version, number, encoding } = rows[0] as (typeof rows)[number]
  return { version, fault: faultOf(version, number, encoding) }
}

/** `number` is the version as PostgreSQL counts it, for example 150004. */
function faultOf(version: string, number: number, encoding: string): string | undefined {
  if (number < 150_000) return `PostgreSQL ${version} is too old; version 15 or newer is required`
  if (encoding !== 'UTF8') return `the encoding ${encoding} cannot store all text; create a database with the encoding UTF8`
  return undefined
}
