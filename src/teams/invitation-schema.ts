// GraphQL types and mutations of team invitations.
import { z } from 'zod'
import { AuthorRef, authorOf } from '../core/graph/author.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { defineArguments } from '../core/graph/input.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, text, uuid } from '../core/validation.ts'
import { TeamInvitationStatus } from '../generated/prisma/enums.ts'
import { InviteToTeamInput, TeamRoleRef, teamIdOf } from './input.ts'
import { acceptInvitation, invitedTeamName, inviteToTeam, revokeInvitation } from './invitations.ts'
import { type InvitationRow, invitationsOf, inviterOf, mostInvitations } from './read.ts'
import { TeamRef } from './schema.ts'

const InvitationStatusRef = builder.enumType('TeamInvitationStatus', {
  description: 'The status of an invitation.',
  values: Object.values(TeamInvitationStatus),
})

const TeamInvitationRef = builder.objectRef<InvitationRow>('TeamInvitation').implement({
  description: 'An invitation, which holds a seat.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'Its id.' }),
    email: t.exposeString('email', { description: 'The e-mail address that is invited. It must be verified to accept.' }),
    role: t.field({ type: TeamRoleRef, description: 'The role after acceptance.', resolve: (row) => row.role }),
    status: t.field({ type: InvitationStatusRef, description: 'Its status.', resolve: (row) => row.status }),
    invitedBy: t.field({
      type: AuthorRef,
      nullable: true,
      description: 'The user who invites.',
      resolve: async (row, _, ctx) => authorOf(ctx, await inviterOf(ctx, row.id)),
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When it expires, after seven days.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
  }),
})

const accepting = z.object({ token: text(1, 256).describe('The token of the mail.') }).describe('An acceptance of an invitation.')
defineArguments('AcceptTeamInvitationArguments', accepting)
const refusal = { INVALID_TOKEN: 'for one that is unknown, used, revoked or expired' }

builder.objectField(TeamRef, 'invitations', (t) =>
  t.field({
    type: [TeamInvitationRef],
    extensions: { items: 20, most: mostInvitations },
    description: 'The invitations, newest first, at most 1,000, without revoked ones.',
    errors: [{ FORBIDDEN: 'for collaborators' }],
    resolve: (team, _, ctx) => invitationsOf(ctx, team),
  }),
)

builder.queryField('invitedTeamName', (t) =>
  t.field({
    type: 'String',
    description: 'The name of the team that an open invitation is for, whoever it invites. For signed-in users.',
    errors: [refusal],
    authScopes: { person: true },
    args: { token: t.arg.string({ required: true, description: 'The token of the mail.' }) },
    resolve: (_, args, ctx) => invitedTeamName(ctx, parse(accepting, args).token),
  }),
)

builder.mutationFields((t) => {
  const teamId = t.arg.id({ required: true, description: 'The team.' })
  return {
    inviteToTeam: t.field({
      type: TeamInvitationRef,
      description: 'Invites a person by mail and holds a seat.',
      errors: [
        'TEAM_NOT_FOUND',
        { FORBIDDEN: 'for collaborators' },
        { CONFLICT: 'for a member and if an invitation is open' },
        'MAX_TEAM_SEATS_REACHED',
        'SUBSCRIPTION_INACTIVE',
        { API_RATE_LIMIT_EXCEEDED: 'if you, the team, its owner, your network or the address had too many' },
      ],
      authScopes: { person: true },
      args: { teamId, input: t.arg({ type: InviteToTeamInput.ref, required: true, description: 'The address and the role.' }) },
      resolve: (_, args, ctx) => {
        const once = keyed(ctx, 'inviteToTeam', { ...args.input, teamId: args.teamId } as typeof args.input)
        const { email, role } = InviteToTeamInput.parse(ctx.app.config, args.input)
        return inviteToTeam(once, teamIdOf(args.teamId), { email, role })
      },
    }),
    revokeTeamInvitation: t.field({
      type: DeletedRef,
      description: 'Revokes an invitation and frees its seat.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'NOT_FOUND', { INVALID_STATE: 'for an accepted one' }],
      authScopes: { person: true },
      args: { teamId, id: t.arg.id({ required: true, description: 'The invitation.' }) },
      resolve: (_, args, ctx) => {
        const id = parse(uuid, args.id, 'id')
        return revokeInvitation(ctx, teamIdOf(args.teamId), id)
      },
    }),
    acceptTeamInvitation: t.field({
      type: TeamRef,
      description: 'Joins the team of an invitation.',
      errors: [refusal, { FORBIDDEN: 'if the address is not yours or not verified' }],
      authScopes: { person: true },
      args: { token: t.arg.string({ required: true, description: 'The token of the mail.' }) },
      resolve: (_, args, ctx) => acceptInvitation(ctx, parse(accepting, args).token),
    }),
  }
})
