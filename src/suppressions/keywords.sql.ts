// SQL of the settings of workspaces, for inbound messages.
import type { Sql } from '../core/database/database.ts'

/** The settings of these workspaces; those without a row have the defaults. */
export async function readKeywords(
  sql: Sql,
  workspaceIds: readonly string[],
): Promise<Map<string, { keywords: string[]; reply: string | null }>> {
  const { rows } = await sql.query<{ workspaceId: string; keywords: string[]; reply: string | null }>({
    name: 'suppressions.keywords',
    text: 'select "workspaceId", keywords, reply from suppression_settings where "workspaceId" = any($1::uuid[])',
    values: [workspaceIds],
  })
  return new Map(rows.map((row) => [row.workspaceId, row]))
}
