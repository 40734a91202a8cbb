// SQL of media that messages and templates name: whole sets by their tokens.
import type { Sql } from '../core/database/database.ts'
import { unindexed } from '../core/database/unindexed.ts'

/**
 * The stored files with these tokens (unique index), as `token` to MIME type. They are locked FOR KEY SHARE until `tx` ends, so that
 * {@link lockForRemoval} waits for what is stored with their addresses.
 */
export async function readStored(tx: Sql, tokens: readonly string[]): Promise<Map<string, string>> {
  const { rows } = await tx.query<{ token: string; mimeType: string }>({
    name: 'media.stored',
    text: 'select token, "mimeType" from media where token = any($1::text[]) and "storedAt" is not null order by id for key share',
    values: [tokens],
  })
  return new Map(rows.map(({ token, mimeType }) => [token, mimeType]))
}

/** Locks files of the workspace. A row that names one of them is stored by now, or its transaction waits for the end of `tx`. */
export async function lockForRemoval(tx: Sql, workspaceId: string, tokens: readonly string[]): Promise<void> {
  await tx.query(
    `select from media where token = any($2::text[]) and ${unindexed('"workspaceId" = $1')} order by id for update`,
    [workspaceId, tokens],
  )
}

/**
 * Marks files of the workspace as removed, so that they cannot be found any more, and returns their ids. The caller removes their bytes
 * after the commit; otherwise the sweep does.
 */
export async function markRemoved(tx: Sql, workspaceId: string, tokens: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ id: string }>(
    `update media set "storedAt" = null, "removedAt" = now()
     where token = any($2::text[]) and ${unindexed('"workspaceId" = $1')} and "removedAt" is null returning id`,
    [workspaceId, tokens],
  )
  return rows.map(({ id }) => id)
}

/** Marks files of a workspace that has ended as removed, `most` of them at most (index on the workspace). Returns how many. */
export async function markSomeRemoved(sql: Sql, workspaceId: string, most: number): Promise<number> {
  const { rowCount } = await sql.query(
    `update media set "storedAt" = null, "removedAt" = now()
     where id in (select id from media where "workspaceId" = $1 and "removedAt" is null limit $2)`,
    [workspaceId, most],
  )
  return rowCount ?? 0
}
