// The API keys of a person who is signed in: made within the plan, and revoked.
import type { Context } from '../../core/context.ts'
import { fail } from '../../core/errors.ts'
import { write } from '../../core/idempotency/idempotency.ts'
import { ownWorkspaceOf } from '../own-workspace.ts'
import { type IssuedApiKey, issueApiKeyWithin } from './api-keys.ts'

/**
 * A further key of the person's own workspace, whichever they look at, on their own subscription.
 * @throws SUBSCRIPTION_INACTIVE, MAX_API_KEYS_REACHED, exact under a race.
 */
export async function createOwnApiKey(ctx: Context, name: string): Promise<IssuedApiKey> {
  const { app, principal } = ctx
  const { userId } = principal
  return await write(ctx, async (tx) => {
    const { maxApiKeys } = await app.holdLimits(tx, userId)
    const workspaceId = await ownWorkspaceOf(tx, userId)
    return await issueApiKeyWithin(tx, maxApiKeys, { userId, workspaceId, name })
  })
}

/** Refused everywhere from the next request on. @throws NOT_FOUND for a key that is not theirs, or was revoked. */
export async function revokeOwnApiKey(ctx: Context, id: string): Promise<{ id: string; deleted: true }> {
  return await write(ctx, async (tx) => {
    const { rowCount } = await tx.query(
      `update api_keys set "revokedAt" = now() where id = $1 and "userId" = $2 and "teamId" is null and "revokedAt" is null`,
      [id, ctx.principal.userId],
    )
    return rowCount ? { id, deleted: true } : fail('NOT_FOUND', 'API key not found')
  })
}
