// Inputs about teams: every field and its limits. An error names the field.
import { z } from 'zod'
import { email } from '../accounts/email.ts'
import { fail } from '../core/errors.ts'
import { builder } from '../core/graph/builder.ts'
import { defineInput, idempotencyKey, registerEnum } from '../core/graph/input.ts'
import { nameOf, uuid } from '../core/validation.ts'
import { TeamRole } from '../generated/prisma/enums.ts'

export const TeamRoleRef = builder.enumType('TeamRole', {
  description:
    'The `owner` pays and manages the team itself; an `admin` manages members, invitations, keys and instances; a `collaborator` uses the data of the team.',
  values: Object.values(TeamRole),
})
registerEnum('TeamRole', TeamRoleRef)

/** The roles that can be assigned. */
const role = z.enum(['admin', 'collaborator']).meta({ id: 'TeamRole', description: 'The role: `admin` or `collaborator`.' })
const name = nameOf(100).describe('Its name, 1 to 100 characters.')

export const CreateTeamInput = defineInput('CreateTeamInput', 'A new team.', z.object({ name, idempotencyKey }))

export const UpdateTeamInput = defineInput('UpdateTeamInput', 'Changes to a team.', z.object({ name }))

export const UpdateTeamMemberInput = defineInput('UpdateTeamMemberInput', 'Changes to a member.', z.object({ role }))

export const inviteFields = z.object({
  email: email.describe('The e-mail address of the person. An account may be created later.'),
  role,
})
export const InviteToTeamInput = defineInput('InviteToTeamInput', 'A new invitation.', inviteFields.extend({ idempotencyKey }))

export type Invite = z.output<typeof inviteFields>
export type GivenRole = z.output<typeof role>

/** Returns the id of a team. A malformed id counts as unknown. @throws TEAM_NOT_FOUND when the id is malformed. */
export function teamIdOf(value: string): string {
  return uuid.safeParse(value).data ?? fail('TEAM_NOT_FOUND')
}
