// Permissions of team roles, for every domain.
import type { Context } from './context.ts'
import type { Sql } from './database/database.ts'
import { fail } from './errors.ts'
import type { Principal, TeamRole } from './principal.ts'

/** True if the role manages members, invitations, keys, instances and webhook endpoints. */
export function manages(role: TeamRole): boolean {
  return role !== 'collaborator'
}

/**
 * Refuses collaborators. Keys, and users in their own workspace, have no role and pass. @throws FORBIDDEN when the role is
 * collaborator.
 */
export function requireManager({ role }: Pick<Principal, 'role'>): void {
  if (role !== null && !manages(role)) fail('FORBIDDEN', 'Only the owner and the admins of the team can do this')
}

/**
 * {@link requireManager} with the present role, locked for the transaction. @throws FORBIDDEN when the role is collaborator; and
 * as `Hooks.lockCallerRole`.
 */
export async function lockManager({ app, principal }: Context, tx: Sql): Promise<void> {
  requireManager({ role: await app.hooks.lockCallerRole(tx, principal) })
}

/** @throws FORBIDDEN when the role is not owner. */
export function requireOwner({ role }: { role: TeamRole }): void {
  if (role !== 'owner') fail('FORBIDDEN', 'Only the owner of the team can do this')
}
