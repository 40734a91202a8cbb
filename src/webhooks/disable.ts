// Disables the webhook endpoints of a person who was removed from the team.
import type { Sql } from '../core/database/database.ts'
import { cancelDeliveries } from './settle.ts'

/**
 * Disables every endpoint of the workspace that the person created or approved, with the reason `member_removed`, even if it was
 * disabled before. Its pending deliveries are cancelled. An owner or admin can enable it again. An attempt in progress is the last one.
 */
export async function disableEndpointsOf(tx: Sql, workspaceId: string, userId: string): Promise<void> {
  const { rows } = await tx.query<{ id: string }>(
    `select id from webhook_endpoints where "workspaceId" = $1 and ("createdById" = $2 or "approvedById" = $2) and "deletedAt" is null
     order by id for no key update`,
    [workspaceId, userId],
  )
  for (const { id } of rows) {
    await tx.query(
      `update webhook_endpoints set "disabledReason" = 'member_removed', "disabledAt" = coalesce("disabledAt", now()), "updatedAt" = now()
       where id = $1`,
      [id],
    )
    await cancelDeliveries(tx, id, 'endpoint_disabled')
  }
}
