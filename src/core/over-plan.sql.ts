// SQL of what rests because it exceeds a plan: counted for many owners in one statement.
import type { Sql } from './database/database.ts'

/** Of how many resources of one kind an owner has at work beside others that rest. */
export interface WorkingCount {
  ownerId: string
  working: number
}

/**
 * Counts what works of those owners among `ownerIds` of whom something rests. `counted` is the SQL of `LimitedKind` (core/app.ts). Workspaces of
 * deleted teams do not count. Relies on the indexes of workspaces by owner, and of the counted rows by workspace.
 */
export async function countWorking(sql: Sql, counted: string, ownerIds: readonly string[]): Promise<WorkingCount[]> {
  const { rows } = await sql.query<WorkingCount>(
    `select w."ownerId", count(*) filter (where not c.resting)::int as working
     from workspaces w left join teams t on t."workspaceId" = w.id join (${counted}) c on c."workspaceId" = w.id
     where w."ownerId" = any($1::uuid[]) and t."deletedAt" is null group by 1 having bool_or(c.resting)`,
    [ownerIds],
  )
  return rows
}
