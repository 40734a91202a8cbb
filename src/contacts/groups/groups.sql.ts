// SQL of contact groups: their number on a plan, and their members as recipients.
import type { Sql } from '../../core/database/database.ts'
import { countedWorkspaces } from '../../core/database/plan-quota.ts'
import type { Addressee } from '../contacts.sql.ts'

/** Groups in all workspaces that the plan of the owner pays for. Exact while `holdQuota` holds the subscription. */
export async function countGroups(tx: Sql, ownerId: string): Promise<number> {
  const { rows } = await tx.query<{ count: number }>(
    `select count(*)::int as count from contact_groups where "workspaceId" in ${countedWorkspaces}`,
    [ownerId],
  )
  return rows[0]?.count ?? 0
}

/** The distinct members of the groups, oldest contacts first, at most `limit`. */
export async function readGroupAddressees(sql: Sql, groupIds: readonly string[], limit: number): Promise<Addressee[]> {
  const { rows } = await sql.query<Addressee>(
    `select id, phone from contacts
     where id in (select "contactId" from contact_group_members where "groupId" = any($1::uuid[])) order by "createdAt", id limit $2`,
    [groupIds, limit],
  )
  return rows
}
