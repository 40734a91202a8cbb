// Reads workspaces for the domains above.
import type { App } from '../core/app.ts'

/** True if the workspace was created after that time. */
export async function isCreatedAfter({ db }: Pick<App, 'db'>, workspaceId: string, at: Date): Promise<boolean> {
  return (await db.workspace.findFirst({ where: { id: workspaceId, createdAt: { gt: at } }, select: { id: true } })) !== null
}
