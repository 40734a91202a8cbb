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

/**
 * Marks files of the workspace as removed, so that they cannot be found any more, and returns their ids. The caller removes their bytes
 * after the commit; otherwise the sweep does.
 */
export async function markRemoved(tx: Sql, workspaceId: string, tokens: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update media set "storedAt" = null, "removedAt" = now()
     where token = any($2::text[]) and "workspaceId" = $1 and "removedAt" is null returning id`,
    [workspaceId, tokens],
  )
  return rows.map(({ id }) => id)
}
