// What the roles in a team allow.
import type { Principal, TeamRole } from '../core/context.ts'
import { fail } from '../core/errors.ts'

/** Whether the role manages members, invitations, keys and instances. */
export function manages(role: TeamRole): boolean {
  return role !== 'collaborator'
}

/** Refuses collaborators; who has a key, or is in their own workspace, is none. @throws FORBIDDEN. */
export function requireManager({ role }: Pick<Principal, 'role'>): void {
  if (role !== null && !manages(role)) fail('FORBIDDEN', 'Only the owner and the admins of the team may do this')
}

/** @throws FORBIDDEN for everybody else. */
export function requireOwner({ role }: { role: TeamRole }): void {
  if (role !== 'owner') fail('FORBIDDEN', 'Only the owner of the team may do this')
}
