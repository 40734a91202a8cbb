// SQL that finds a message by the id that the network gave it.
import type { Sql } from '../core/database/database.ts'

/** The ids of messages of the workspace with that provider message id: one for each of its instances at most (unique index). */
export async function findByProviderId(sql: Sql, workspaceId: string, providerMessageId: string): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `select m.id from instances i join messages m on m."instanceId" = i.id and m."providerMessageId" = $2
     where i."workspaceId" = $1 limit 5`,
    [workspaceId, providerMessageId],
  )
  return rows.map(({ id }) => id)
}
