// The workspaces that count against a plan.
import type { Prisma } from '../generated/prisma/client.ts'

/** Condition for Prisma: the workspaces that the owner's plan pays for. Those of deleted teams do not count. */
export function countedWorkspaces(ownerId: string): Prisma.WorkspaceWhereInput {
  return { ownerId, OR: [{ team: null }, { team: { deletedAt: null } }] }
}
