// SQL of the version, the encoding and the access of the database, and what the gateway requires of them.
import type { Sql } from './database.ts'

interface Server {
  version: string
  /** Why the gateway cannot use the database, with advice; undefined if it can. */
  fault: string | undefined
}

export async function readServer(sql: Sql): Promise<Server> {
  const { rows } = await sql.query<{ version: string; number: number; encoding: string; readOnly: boolean }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
       current_setting('server_encoding') as encoding, current_setting('transaction_read_only')::bool as "readOnly"`,
  )
  const { version, number, encoding, readOnly } = rows[0] as (typeof rows)[number]
  return { version, fault: faultOf(version, number, encoding, readOnly) }
}

/** `number` is the version as PostgreSQL counts it, for example 150004. */
function faultOf(version: string, number: number, encoding: string, readOnly: boolean): string | undefined {
  if (number < 150_000) return `PostgreSQL ${version} is too old; version 15 or newer is required`
  if (encoding !== 'UTF8') return `the encoding ${encoding} cannot store all text; create a database with the encoding UTF8`
  if (readOnly) return 'its sessions are read-only; connect to the primary server, and set default_transaction_read_only to off'
  return undefined
}
