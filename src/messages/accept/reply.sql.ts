// SQL of replies that the gateway sends by itself: the owner of a workspace, who pays for them.
import { planInForceSql } from '../../billing/plans.ts'
import type { Sql } from '../../core/database/database.ts'

export interface Payer {
  workspaceId: string
  ownerId: string
  plan: string
}

/** The payers of these workspaces, without those whose subscription is inactive. */
export async function readPayers(tx: Sql, workspaceIds: readonly string[]): Promise<Map<string, Payer>> {
  const { rows } = await tx.query<Payer>(
    `select w.id as "workspaceId", w."ownerId", ${planInForceSql('s')} as plan
     from workspaces w join subscriptions s on s."userId" = w."ownerId"
     where w.id = any($1::uuid[]) and s.status <> 'inactive'`,
    [workspaceIds],
  )
  return new Map(rows.map((row) => [row.workspaceId, row]))
}
