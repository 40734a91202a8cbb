// Access rules for the billing of a team. In a personal workspace everybody is the owner.
import { fail } from '../../core/errors.ts'
import type { Principal } from '../../core/principal.ts'

type Caller = Pick<Principal, 'teamId' | 'role'>

/** True if the billing is that of a team that belongs to somebody else. Keys have no role, so a team key never has access. */
function isAnothers({ teamId, role }: Caller): boolean {
  return teamId !== null && role !== 'owner'
}

/** @throws BILLING_TEAM_MUTATION_FORBIDDEN when the caller does not own the team. */
export function refuseUnlessOwner(principal: Caller): void {
  if (isAnothers(principal)) fail('BILLING_TEAM_MUTATION_FORBIDDEN')
}

/** @throws BILLING_PAYMENTS_TEAM_OWNER_ONLY when the caller does not own the team. */
export function refusePaymentsUnlessOwner(principal: Caller): void {
  if (isAnothers(principal)) fail('BILLING_PAYMENTS_TEAM_OWNER_ONLY')
}

/** False for a collaborator of the team, and for a key of the team. */
export function seesUsage(principal: Caller): boolean {
  return !isAnothers(principal) || principal.role === 'admin'
}

/** Protects the subscription and the usage. @throws FORBIDDEN when the caller is a collaborator of the team, or uses a key of the team. */
export function refuseCollaborators(principal: Caller): void {
  if (!seesUsage(principal)) fail('FORBIDDEN', 'Collaborators cannot see the billing of a team')
}
