// Finds the personal workspace of a user.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { openAccountIn } from './open-account.ts'

/** SQL condition: true if the workspace with that alias is its owner's personal one, that is, if no team has it. */
export function isPersonal(workspace: string): string {
  return `not exists (select from teams team where team."workspaceId" = ${workspace}.id)`
}

/**
 * Returns the id of the user's personal workspace. Creates it if a process died between creating the user and the workspace.
 * @throws NOT_FOUND when the user has a subscription but no personal workspace.
 */
export async function ownWorkspaceOf(tx: Sql, userId: string): Promise<string> {
  const find = async () => {
    const { rows } = await tx.query<{ id: string }>(
      `select w.id from workspaces w where w."ownerId" = $1 and ${isPersonal('w')}`,
      [userId],
    )
    return rows[0]?.id
  }
  // Null if another process created it in the meantime.
  return (await find()) ?? (await openAccountIn(tx, userId, 'free')) ?? (await find()) ?? fail('NOT_FOUND', 'Workspace not found')
}
