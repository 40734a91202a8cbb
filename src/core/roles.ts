// What the roles in a team allow, for every domain that asks.
import type { Context, Principal, TeamRole } from './context.ts'
import type { Sql } from './database/database.ts'
import { fail } from './errors.ts'

declare module './app.ts' {
  interface App {
    /**
     * The caller's role in the team at this moment; null for a key, and in a personal workspace. The membership, or the key, is
     * locked for the transaction `tx`: a removal that comes later waits for it. @throws TEAM_NOT_FOUND for somebody who is not
     * in the team any more; UNAUTHORIZED for a team key that was revoked.
     */
    holdRole: (tx: Sql, principal: Principal) => Promise<TeamRole | null>
  }
}

/** Whether the role manages members, invitations, keys, instances and webhook endpoints. */
export function manages(role: TeamRole): boolean {
  return role !== 'collaborator'
}

/** Refuses collaborators; who has a key, or is in their own workspace, is none. @throws FORBIDDEN. */
export function requireManager({ role }: Pick<Principal, 'role'>): void {
  if (role !== null && !manages(role)) fail('FORBIDDEN', 'Only the owner and the admins of the team may do this')
}

/** {@link requireManager} by the role of this moment, locked for the transaction. @throws as `App.holdRole`, FORBIDDEN. */
export async function holdManager({ app, principal }: Context, tx: Sql): Promise<void> {
  requireManager({ role: await app.holdRole(tx, principal) })
}

/** @throws FORBIDDEN for everybody else. */
export function requireOwner({ role }: { role: TeamRole }): void {
  if (role !== 'owner') fail('FORBIDDEN', 'Only the owner of the team may do this')
}
