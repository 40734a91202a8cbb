// The API keys of a team: its owner and admins create and revoke them.
import { holdSession } from '../accounts/hold-session.ts'
import { type IssuedApiKey, issueApiKeyWithin, type NewApiKey, revokeKeys } from '../accounts/keys/api-keys.ts'
import type { Context } from '../core/context.ts'
import { fail } from '../core/errors.ts'
import { write } from '../core/idempotency/idempotency.ts'
import { requireManager } from '../core/roles.ts'
import { lockOwnTeam, lockPaidTeam } from './lock.ts'
import { lockLimits } from './quota.ts'

/**
 * Creates a key of the team.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; SUBSCRIPTION_INACTIVE when the
 * owner's subscription is inactive; MAX_API_KEYS_REACHED when the owner's workspaces have as many keys as the plan allows, exact under a
 * race; as {@link holdSession}.
 */
export async function createTeamKey(
  ctx: Context,
  teamId: string,
  key: Pick<NewApiKey, 'name' | 'access'>,
): Promise<IssuedApiKey> {
  const { userId } = ctx.principal
  return await write(ctx, async (tx) => {
    const team = await lockOwnTeam(tx, userId, teamId, lockPaidTeam)
    requireManager(team)
    const { maxApiKeys } = await lockLimits(tx, team.ownerId)
    await holdSession(tx, ctx.principal)
    const { workspaceId } = team
    return await issueApiKeyWithin(tx, team.ownerId, maxApiKeys, { ...key, userId, workspaceId, teamId })
  })
}

/**
 * Makes the key invalid from the next request on.
 * @throws TEAM_NOT_FOUND when the caller is not in the team; FORBIDDEN when the caller is a collaborator; NOT_FOUND when the team has no
 * such key, or it was revoked.
 */
export async function revokeTeamKey(ctx: Context, teamId: string, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    requireManager(await lockOwnTeam(tx, ctx.principal.userId, teamId))
    const revoked = await revokeKeys(tx, { id, teamId })
    return revoked ? { id, deleted: true } : fail('NOT_FOUND', 'API key not found')
  })
}
