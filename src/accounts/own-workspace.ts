// Which workspace is a person's own.
import type { Sql } from '../core/database/database.ts'
import { fail } from '../core/errors.ts'
import { openAccountIn } from './open-account.ts'

/** As SQL: whether the workspace of that alias is its owner's own, which every one is that no team has. */
export function isPersonal(workspace: string): string {
  return `not exists (select from teams team where team."workspaceId" = ${workspace}.id)`
}

/** The id of the person's own workspace, which is made where whoever signed them up ended before it was. @throws NOT_FOUND for no user. */
export async function ownWorkspaceOf(tx: Sql, userId: string): Promise<string> {
  const find = async () => {
    const { rows } = await tx.query<{ id: string }>(
      `select w.id from workspaces w where w."ownerId" = $1 and ${isPersonal('w')}`,
      [userId],
    )
    return rows[0]?.id
  }
  // Null where another made it meanwhile.
  return (await find()) ?? (await openAccountIn(tx, userId, 'free')) ?? (await find()) ?? fail('NOT_FOUND', 'Workspace not found')
}
