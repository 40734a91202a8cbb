// Counts instances for the limit of a plan.
import { countedWorkspaces } from '../core/counted-workspaces.ts'
import type { Prisma } from '../generated/prisma/client.ts'

/** The instances in all workspaces that count against the plan of that account. */
export async function countInstances(db: Prisma.TransactionClient, ownerId: string): Promise<number> {
  return await db.instance.count({ where: { deletedAt: null, workspace: countedWorkspaces(ownerId) } })
}
