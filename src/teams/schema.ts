// GraphQL types and mutations of teams. Each field takes the team from its argument; the `X-Team-Id` header has no effect here.
import { UsageRef } from '../billing/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { CreateTeamInput, TeamRoleRef, teamIdOf, UpdateTeamInput } from './input.ts'
import { countTeams, createOwnTeam, deleteTeam, renameTeam } from './manage.ts'
import { mostTeams, readTeam, readTeams, type TeamRow } from './read.ts'

export const TeamRef = builder.objectRef<TeamRow>('Team').implement({
  description: 'A workspace that several users share, on the subscription of its owner.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'The id, to be sent as `X-Team-Id`.' }),
    name: t.exposeString('name', { description: 'Its name.' }),
    ownerId: t.exposeID('ownerId', { description: 'The user whose subscription pays.' }),
    role: t.field({ type: TeamRoleRef, description: 'Your role in the team.', resolve: (team) => team.role }),
    membersCount: t.exposeInt('membersCount', { description: 'The number of members, including the owner.' }),
    seats: t.exposeInt('seats', {
      description: "The number of seats in the owner's plan. Members, including the owner, and open invitations take seats.",
    }),
    active: t.boolean({
      description: "False while the owner's subscription is inactive, or suspended by an operator: nothing is created or sent.",
      // An answer that an older version stored for a repeated request has none.
      resolve: ({ active = true }: Partial<TeamRow>) => active,
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was created.' }),
    updatedAt: t.expose('updatedAt', { type: 'DateTime', description: 'When the team or its members last changed.' }),
  }),
})

builder.objectField(UsageRef, 'teams', (t) =>
  t.int({
    description: 'Teams that the account owns now.',
    resolve: (_, __, { app, principal }) => countTeams(app.db, principal.ownerId),
  }),
)

builder.queryFields((t) => ({
  teams: t.field({
    type: [TeamRef],
    extensions: { items: 20, most: mostTeams },
    description: 'Your teams, oldest first, at most 1,000. For signed-in users.',
    authScopes: { person: true },
    resolve: (_, __, { app, principal }) => readTeams(app.db, principal.userId),
  }),
  team: t.field({
    type: TeamRef,
    nullable: true,
    description: 'One of your teams. For signed-in users.',
    errors: ['TEAM_NOT_FOUND'],
    authScopes: { person: true },
    args: { id: t.arg.id({ required: true, description: 'Its id.' }) },
    resolve: (_, { id }, { app, principal }) => readTeam(app.db, principal.userId, teamIdOf(id)),
  }),
}))

builder.mutationFields((t) => {
  const id = t.arg.id({ required: true, description: 'The team.' })
  return {
    createTeam: t.field({
      type: TeamRef,
      description: 'Creates a team that you own.',
      errors: ['MAX_TEAMS_REACHED', 'SUBSCRIPTION_INACTIVE', 'FORBIDDEN'],
      authScopes: { $all: { person: true, active: true } },
      args: { input: t.arg({ type: CreateTeamInput.ref, required: true, description: 'The new record.' }) },
      resolve: (_, { input }, ctx) => {
        const once = keyed(ctx, 'createTeam', input)
        return createOwnTeam(once, CreateTeamInput.parse(ctx.app.config, input).name)
      },
    }),
    updateTeam: t.field({
      type: TeamRef,
      description: 'Renames a team.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for collaborators' }],
      authScopes: { person: true },
      args: { id, input: t.arg({ type: UpdateTeamInput.ref, required: true, description: 'The changes.' }) },
      resolve: (_, args, ctx) => {
        const { name } = UpdateTeamInput.parse(ctx.app.config, args.input)
        return renameTeam(ctx, teamIdOf(args.id), name)
      },
    }),
    deleteTeam: t.field({
      type: DeletedRef,
      description:
        'Deletes a team. Its members lose access, its keys and invitations are revoked, and its instances are logged out and deleted.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for everybody but the owner' }],
      authScopes: { person: true },
      args: { id },
      resolve: (_, args, ctx) => deleteTeam(ctx, teamIdOf(args.id)),
    }),
  }
})
