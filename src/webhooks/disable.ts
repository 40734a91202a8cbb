// Disables the webhook endpoints of a person who was removed from the team.
import type { Sql } from '../core/database/database.ts'
import { disableEndpoints, lockEndpointsOf } from './endpoints.sql.ts'
import { cancelDeliveries } from './settle.sql.ts'

/**
 * Disables every endpoint of the workspace that the person created or approved, with the reason `member_removed`, even if it was
 * disabled before. Its pending deliveries are cancelled. An owner or admin can enable it again. An attempt in progress is the last one.
 */
export async function disableEndpointsOf(tx: Sql, workspaceId: string, userId: string): Promise<void> {
  const ids = await lockEndpointsOf(tx, workspaceId, userId)
  await disableEndpoints(tx, ids, 'member_removed')
  await cancelDeliveries(tx, ids, 'endpoint_disabled')
}
