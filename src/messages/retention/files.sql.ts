// SQL of the files of deleted messages.
import type { Sql } from '../../core/database/database.ts'
import { unindexed } from '../../core/database/unindexed.ts'

/** The addresses among `urls` that no message, template or campaign of the workspace has (hash index on the address of messages). */
export async function unusedOf(tx: Sql, workspaceId: string, urls: readonly string[]): Promise<string[]> {
  const { rows } = await tx.query<{ url: string }>(
    `select url from unnest($2::text[]) as url
     where not exists (select from messages m where ${unindexed('m."workspaceId" = $1')} and m."mediaUrl" = url offset 0)
       and not exists (select from templates t where t."workspaceId" = $1 and t."mediaUrl" = url)
       and not exists (select from campaigns c where c."workspaceId" = $1 and c."mediaUrl" = url)`,
    [workspaceId, urls],
  )
  return rows.map(({ url }) => url)
}
