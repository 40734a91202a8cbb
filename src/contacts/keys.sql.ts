// SQL of the keys of `custom`, which contacts of a workspace need not have in common.
import type { Sql } from '../core/database/database.ts'

/** The keys in alphabetical order. It reads all contacts of the workspace (index on workspaceId). */
export async function readCustomKeys(sql: Sql, workspaceId: string, limit: number): Promise<string[]> {
  const { rows } = await sql.query<{ key: string }>(
    `select distinct key from contacts, jsonb_object_keys(custom) as key where "workspaceId" = $1 order by key limit $2`,
    [workspaceId, limit],
  )
  return rows.map(({ key }) => key)
}
