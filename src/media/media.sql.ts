// SQL of media that messages and templates name: whole sets by their tokens.
import type { Sql } from '../core/database/database.ts'

/** The stored files with these tokens (unique index), as `token` to MIME type. */
export async function readStored(sql: Sql, tokens: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await sql.query<{ token: string; mimeType: string }>({
    name: 'media.stored',
    text: 'select token, "mimeType" from media where token = any($1::text[]) and "storedAt" is not null',
    values: [tokens],
  })
  return new Map(rows.map(({ token, mimeType }) => [token, mimeType]))
}
