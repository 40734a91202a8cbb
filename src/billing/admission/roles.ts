// Who may see and change the billing of a team. In a personal workspace everybody is the owner.
import type { Principal } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'

type Asker = Pick<Principal, 'teamId' | 'role'>

/** Whether it is the billing of a team that belongs to somebody else. Keys have no role, and no way to it. */
function isAnothers({ teamId, role }: Asker): boolean {
  return teamId !== null && role !== 'owner'
}

/** @throws BILLING_TEAM_MUTATION_FORBIDDEN. */
export function refuseUnlessOwner(principal: Asker): void {
  if (isAnothers(principal)) fail('BILLING_TEAM_MUTATION_FORBIDDEN')
}

/** @throws BILLING_PAYMENTS_TEAM_OWNER_ONLY. */
export function refusePaymentsUnlessOwner(principal: Asker): void {
  if (isAnothers(principal)) fail('BILLING_PAYMENTS_TEAM_OWNER_ONLY')
}

/** For the subscription and the usage. @throws FORBIDDEN for collaborators. */
export function refuseCollaborators(principal: Asker): void {
  if (isAnothers(principal) && principal.role !== 'admin') fail('FORBIDDEN', 'Collaborators do not see the billing of a team')
}
