// Finds the personal workspace of a user.
import type { Tx } from '../core/database/transaction.ts'
import { fail } from '../core/errors.ts'
import { openAccountIn } from './open-account.ts'

/**
 * Returns the id of the user's personal workspace. Creates it if a process died between creating the user and the workspace.
 * @throws NOT_FOUND when the user has a subscription but no personal workspace.
 */
export async function ownWorkspaceOf(tx: Tx, userId: string): Promise<string> {
  const find = async () => {
    const found = await tx.db.workspace.findFirst({ where: { ownerId: userId, team: null }, select: { id: true } })
    return found?.id
  }
  // Null if another process created it in the meantime.
  return (await find()) ?? (await openAccountIn(tx, userId, 'free')) ?? (await find()) ?? fail('NOT_FOUND', 'Workspace not found')
}
