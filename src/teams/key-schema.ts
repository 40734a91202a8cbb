// GraphQL types and mutations of the API keys of a team.
import { ApiKeyRef, CreateApiKeyInput, IssuedApiKeyRef } from '../accounts/schema.ts'
import { builder } from '../core/graph/builder.ts'
import { DeletedRef } from '../core/graph/deleted.ts'
import { keyed } from '../core/idempotency/idempotency.ts'
import { parse, uuid } from '../core/validation.ts'
import { teamIdOf } from './input.ts'
import { createTeamKey, revokeTeamKey } from './keys.ts'
import { keysOf, revokedKeysOf } from './read.ts'
import { TeamRef } from './schema.ts'

builder.objectFields(TeamRef, (t) => ({
  apiKeys: t.field({
    type: [ApiKeyRef],
    extensions: { items: 20 },
    description: 'Its active API keys, oldest first.',
    errors: [{ FORBIDDEN: 'for collaborators' }],
    resolve: (team, _, ctx) => keysOf(ctx, team),
  }),
  revokedApiKeys: t.field({
    type: [ApiKeyRef],
    extensions: { items: 20, most: 100 },
    description:
      'Its last revoked API keys, at most 100, newest first, including those of members who were removed, left or became collaborators.',
    errors: [{ FORBIDDEN: 'for collaborators' }],
    resolve: (team, _, ctx) => revokedKeysOf(ctx, team),
  }),
}))

builder.mutationFields((t) => {
  const teamId = t.arg.id({ required: true, description: 'The team.' })
  return {
    createTeamApiKey: t.field({
      type: IssuedApiKeyRef,
      description: 'Creates an API key of the team.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'MAX_API_KEYS_REACHED', 'SUBSCRIPTION_INACTIVE'],
      authScopes: { person: true },
      args: { teamId, input: t.arg({ type: CreateApiKeyInput.ref, required: true, description: 'The new key.' }) },
      resolve: (_, args, ctx) => {
        const once = keyed(ctx, 'createTeamApiKey', { ...args.input, teamId: args.teamId } as typeof args.input)
        const { name, access } = CreateApiKeyInput.parse(ctx.app.config, args.input)
        return createTeamKey(once, teamIdOf(args.teamId), { name, access: access ?? 'full' })
      },
    }),
    revokeTeamApiKey: t.field({
      type: DeletedRef,
      description: 'Revokes an API key of the team. It is refused from the next request on.',
      errors: ['TEAM_NOT_FOUND', { FORBIDDEN: 'for collaborators' }, 'NOT_FOUND'],
      authScopes: { person: true },
      args: { teamId, id: t.arg.id({ required: true, description: 'The key.' }) },
      resolve: (_, args, ctx) => {
        const id = parse(uuid, args.id, 'id')
        return revokeTeamKey(ctx, teamIdOf(args.teamId), id)
      },
    }),
  }
})
