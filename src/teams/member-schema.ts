// GraphQL types and mutations of team members.
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { parse, uuid } from '../core/validation.ts'
import { TeamRoleRef, teamIdOf, UpdateTeamMemberInput } from './input.ts'
import { changeRole, leaveTeam, removeMember } from './members.ts'
import { type MemberRow, membersOf } from './read.ts'
import { TeamRef } from './schema.ts'

const TeamMemberRef = builder.objectRef<MemberRow>('TeamMember').implement({
  description: 'A member of a team.',
  fields: (t) => ({
    userId: t.exposeID('userId', { description: "The user's id." }),
    email: t.exposeString('email', { description: 'The e-mail address.' }),
    name: t.exposeString('name', { description: 'The name.' }),
    role: t.field({ type: TeamRoleRef, description: 'Their role in the team.', resolve: (member) => member.role }),
    joinedAt: t.expose('joinedAt', { type: 'DateTime', description: 'When they joined.' }),
  }),
})

const LeftTeamRef = builder.objectRef<{ id: string; left: true }>('LeftTeam').implement({
  description: 'A team that you have left.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The team.' }),
    left: t.exposeBoolean('left', { description: 'Always true.' }),
  }),
})

builder.objectField(TeamRef, 'members', (t) =>
  t.field({
    type: [TeamMemberRef],
    extensions: { items: 8 },
    description: 'The members, in the order in which they joined.',
    resolve: (team, _, ctx) => membersOf(ctx, team),
  }),
)

builder.mutationFields((t) => {
  const teamId = t.arg.id({ required: true, description: 'The team.' })
  const userId = t.arg.id({ required: true, description: 'The member.' })
  return {
    updateTeamMember: t.field({
      type: TeamMemberRef,
      description:
        'Changes the role of a member. If they become a collaborator, their API keys and open invitations are revoked.',
      errors: [
        'TEAM_NOT_FOUND',
        { FORBIDDEN: 'for collaborators' },
        'NOT_FOUND',
        { INVALID_STATE: "for the owner's role and for your own" },
      ],
      authScopes: { person: true },
      args: {
        teamId,
        userId,
        input: t.arg({ type: UpdateTeamMemberInput.ref, required: true, description: 'The changes.' }),
      },
      resolve: (_, args, ctx) => {
        const { role } = UpdateTeamMemberInput.parse(ctx.app.config, args.input)
        const member = parse(uuid, args.userId, 'userId')
        return changeRole(ctx, teamIdOf(args.teamId), member, role)
      },
    }),
    removeTeamMember: t.field({
      type: DeletedRef,
      description:
        'Removes a member at once. Their API keys and open invitations are revoked, and their webhook endpoints are disabled.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'NOT_FOUND', { INVALID_STATE: 'for the owner' }],
      authScopes: { person: true },
      args: { teamId, userId },
      resolve: (_, args, ctx) => {
        const member = parse(uuid, args.userId, 'userId')
        return removeMember(ctx, teamIdOf(args.teamId), member)
      },
    }),
    leaveTeam: t.field({
      type: LeftTeamRef,
      description: 'Leaves a team. Your API keys, invitations and webhook endpoints there end as with `removeTeamMember`.',
      errors: ['TEAM_NOT_FOUND', { INVALID_STATE: 'for the owner' }, { FORBIDDEN: 'for keys' }],
      authScopes: { person: true },
      args: { id: teamId },
      resolve: (_, { id }, ctx) => leaveTeam(ctx, teamIdOf(id)),
    }),
  }
})
